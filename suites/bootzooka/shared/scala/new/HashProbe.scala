package bakeoff.bootzooka

import java.lang.management.ManagementFactory

/** Hashes so many passwords as registrations do, and prints the CPU time of it, in seconds. */
object HashProbe:
  private val Salt = "S" * 128

  def main(arguments: Array[String]): Unit =
    val operations = arguments(0).toInt
    // Once for the compiler, then to be measured.
    hash(operations)
    val threads = ManagementFactory.getThreadMXBean
    val begun = threads.getCurrentThreadCpuTime
    hash(operations)
    println((threads.getCurrentThreadCpuTime - begun) / 1e9)

  private def hash(operations: Int): Unit =
    (1 to operations).foreach(index => User.hash(s"secret$index", Salt))
