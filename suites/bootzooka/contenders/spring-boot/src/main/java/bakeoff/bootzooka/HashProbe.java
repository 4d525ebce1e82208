package bakeoff.bootzooka;

import java.lang.management.ManagementFactory;

/** Hashes so many passwords as registrations do, and prints the CPU time of it, in seconds. */
final class HashProbe {
    private static final String SALT = "S".repeat(128);

    private HashProbe() {}

    public static void main(String[] arguments) {
        var operations = Integer.parseInt(arguments[0]);
        // Once for the compiler, then to be measured.
        hash(operations);
        var threads = ManagementFactory.getThreadMXBean();
        var begun = threads.getCurrentThreadCpuTime();
        hash(operations);
        System.out.println((threads.getCurrentThreadCpuTime() - begun) / 1e9);
    }

    private static void hash(int operations) {
        for (var index = 0; index < operations; index++) {
            User.hash("secret" + index, SALT);
        }
    }
}
