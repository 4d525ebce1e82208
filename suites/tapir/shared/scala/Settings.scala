package bakeoff.tapir

import java.util.Properties

/** How the service is built up. */
enum Kind:
  /** Endpoints described with Tapir. */
  case Tapir

  /** The same with Tapir's server log. */
  case TapirInterceptor

  /** The server's own means, without Tapir. */
  case Vanilla

/** What the environment says: `SERVER` and `ROUTES`, both required. */
final case class Settings(kind: Kind, routes: Int):
  /** These settings, for a server that there is with Tapir only; otherwise the process ends. */
  def withoutVanilla: Settings =
    if kind == Kind.Vanilla then Settings.refuse("this server has no vanilla variant")
    this

  /** The numbers of the routes. Several end with 127, so that the same path is the last one of
    * them, however many there are.
    */
  def numbers: List[Int] =
    if routes == 1 then List(0) else List.range(0, routes - 1) :+ Settings.Last

object Settings:
  val Port = 8080

  /** Bytes of the largest body that is taken: 5 MiB and 1 KiB. */
  val BodyLimit: Int = 5 * 1024 * 1024 + 1024

  private val Last = 127

  def read(environment: Map[String, String]): Either[String, Settings] =
    for
      kind <- environment.get("SERVER") match
        case Some("tapir")             => Right(Kind.Tapir)
        case Some("tapir-interceptor") => Right(Kind.TapirInterceptor)
        case Some("vanilla")           => Right(Kind.Vanilla)
        case _ => Left("SERVER must be tapir, tapir-interceptor or vanilla")
      routes <- environment.get("ROUTES").flatMap(_.toIntOption) match
        case Some(count) if count >= 1 && count <= Last + 1 => Right(count)
        case _ => Left(s"ROUTES must be a number from 1 to ${Last + 1}")
    yield Settings(kind, routes)

  /** The settings of this process. For `--version` it prints what is in the jar and ends. */
  def ofProcess(args: Seq[String]): Settings =
    if args.contains("--version") then
      println(version)
      sys.exit(0)
    read(sys.env) match
      case Right(settings) => settings
      case Left(problem)   => refuse(problem)

  private def refuse(problem: String): Nothing =
    Console.err.println(problem)
    sys.exit(2)

  private def version: String =
    val properties = new Properties
    properties.load(getClass.getResourceAsStream("/version.properties"))
    val names = List("server", "tapir", "interpreter", "scala")
    names.map(name => s"$name ${properties.getProperty(name)}").mkString(", ")
