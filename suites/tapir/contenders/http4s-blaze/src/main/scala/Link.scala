package bakeoff.link

import org.objectweb.asm.*
import org.objectweb.asm.Opcodes.*
import org.objectweb.asm.commons.{ClassRemapper, SimpleRemapper}

import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.zip.{ZipEntry, ZipFile, ZipOutputStream}
import scala.collection.mutable
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** Links Blaze, which there is for Scala 2.13 alone, with http4s, fs2 and Cats for Scala 3. Both
  * compilers make the same classes of the same source but for a few names: Blaze's references to
  * these are changed in the jar. A reference that then leads nowhere fails the build.
  *
  * It runs during the build and is not part of the jar.
  */
object Link:
  private val Blaze = "org/http4s/blaze"

  /** Classes by their names in the artifacts for Scala 2.13. */
  private val Renamed = SimpleRemapper(
    Map(
      "fs2/compat/NotGiven" -> "scala/util/NotGiven",
      "fs2/compat/NotGiven$" -> "scala/util/NotGiven$",
      "org/log4s/package$" -> "org/log4s/package$package$"
    ).asJava
  )

  /** How Scala 2.13 and Scala 3 call the default arguments of a constructor that `apply` passes. */
  private val DefaultOfApply = """apply\$default\$(\d+)""".r

  def main(args: Array[String]): Unit =
    val jar = Path.of(args.head)
    val linked = Path.of(s"${args.head}.linked")
    val missing = Using.resource(ZipFile(jar.toFile)) { from =>
      val link = Link(from)
      Using.resource(ZipOutputStream(Files.newOutputStream(linked)))(link.write)
      link.missing
    }
    if missing.nonEmpty then
      Console.err.println(s"Blaze refers to what is not there: ${missing.mkString(", ")}")
      sys.exit(1)
    Files.move(linked, jar, StandardCopyOption.REPLACE_EXISTING)

/** The members of a class: methods as `name(arguments)result`, fields as `name`. */
private final case class Members(parents: List[String], names: Set[String])

private final class Link(from: ZipFile):
  private val members = mutable.Map.empty[String, Option[Members]]

  /** References of Blaze that lead nowhere. */
  val missing = mutable.SortedSet.empty[String]

  def write(to: ZipOutputStream): Unit =
    for entry <- from.entries.asScala do
      val bytes = from.getInputStream(entry).readAllBytes
      val name = entry.getName
      to.putNextEntry(ZipEntry(name))
      to.write(
        if name.startsWith(Link.Blaze) && name.endsWith(".class") then linked(bytes) else bytes
      )
      to.closeEntry()

  private def linked(bytes: Array[Byte]): Array[Byte] =
    val writer = ClassWriter(0)
    val calls = new ClassVisitor(ASM9, writer):
      override def visitMethod(
          access: Int,
          name: String,
          descriptor: String,
          signature: String,
          exceptions: Array[String]
      ): MethodVisitor =
        val inner = super.visitMethod(access, name, descriptor, signature, exceptions)
        Calls(inner)
    ClassReader(bytes).accept(ClassRemapper(calls, Link.Renamed), 0)
    writer.toByteArray

  private final class Calls(inner: MethodVisitor) extends MethodVisitor(ASM9, inner):
    override def visitMethodInsn(
        code: Int,
        owner: String,
        name: String,
        descriptor: String,
        isInterface: Boolean
    ): Unit =
      def call(name: String, descriptor: String): Unit =
        super.visitMethodInsn(code, owner, name, descriptor, isInterface)
      val newName = Link.DefaultOfApply.replaceFirstIn(name, "\\$lessinit\\$greater\\$default\\$$1")
      if owner.startsWith("[") || has(owner, name + descriptor) then call(name, descriptor)
      // Scala 3 leaves out the initialiser of a trait that has nothing to initialise.
      else if name == "$init$" && code == INVOKESTATIC then visitInsn(POP)
      else if has(owner, newName + descriptor) then call(newName, descriptor)
      else
        withOtherResult(owner, name, descriptor) match
          case Some(other) =>
            call(name, other)
            visitTypeInsn(CHECKCAST, Type.getReturnType(descriptor).getInternalName)
          case None => missing += s"$owner.$name$descriptor"

    override def visitFieldInsn(
        code: Int,
        owner: String,
        name: String,
        descriptor: String
    ): Unit =
      if !has(owner, name) then missing += s"$owner.$name"
      super.visitFieldInsn(code, owner, name, descriptor)

  /** A method that differs in its result only: the compilers choose another one of the types of an
    * intersection.
    */
  private def withOtherResult(owner: String, name: String, descriptor: String): Option[String] =
    val begin = name + descriptor.take(descriptor.indexOf(')') + 1)
    membersOf(owner).flatMap(_.names.find(_.startsWith(begin))).map(_.drop(name.length))

  private def has(owner: String, member: String): Boolean =
    membersOf(owner).exists { found =>
      found.names.contains(member) || found.parents.exists(has(_, member))
    }

  private def membersOf(owner: String): Option[Members] =
    members.getOrElseUpdate(owner, read(owner))

  private def read(owner: String): Option[Members] =
    val entry = Option(from.getEntry(s"$owner.class")).map(from.getInputStream)
    val stream = entry.orElse(Option(ClassLoader.getSystemResourceAsStream(s"$owner.class")))
    stream.map { stream =>
      val reader = ClassReader(stream.readAllBytes)
      val names = Set.newBuilder[String]
      val visitor = new ClassVisitor(ASM9):
        override def visitField(
            access: Int,
            name: String,
            descriptor: String,
            signature: String,
            value: Object
        ): FieldVisitor =
          names += name
          null

        override def visitMethod(
            access: Int,
            name: String,
            descriptor: String,
            signature: String,
            exceptions: Array[String]
        ): MethodVisitor =
          names += name + descriptor
          null
      reader.accept(visitor, ClassReader.SKIP_CODE)
      Members(Option(reader.getSuperName).toList ++ reader.getInterfaces, names.result())
    }
