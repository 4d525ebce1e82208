package bakeoff.tapir

import java.io.File
import java.nio.file.Files
import scala.util.Using

/** Bodies that are received into files. Tapir leaves such a file behind when it refuses the body or
  * its client goes away: here they are in a folder of this process's own, which goes with it.
  */
object ReceivedFiles:
  private lazy val folder = Files.createTempDirectory("bakeoff-tapir-")

  /** A new file, as Tapir makes it but for its folder. */
  def create(): File = File.createTempFile("tapir", "tmp", folder.toFile)

  /** Takes the folder away with all that is in it. */
  def remove(): Unit =
    Using.resource(Files.list(folder))(_.forEach(file => Files.deleteIfExists(file)))
    Files.deleteIfExists(folder)
