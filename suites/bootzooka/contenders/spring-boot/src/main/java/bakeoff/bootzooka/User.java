package bakeoff.bootzooka;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.UUID;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** A row of the table {@code users}. */
record User(
        UUID id,
        String login,
        String loginLowercase,
        String email,
        String password,
        String salt,
        LocalDateTime createdOn) {
    private static final int SALT_LENGTH = 128;
    private static final int ITERATIONS = 10_000;
    private static final int KEY_BITS = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    static User from(Registration registration) {
        var salt = newSalt();
        return new User(
                UUID.randomUUID(),
                registration.login(),
                registration.loginLowercase(),
                registration.email(),
                hash(registration.password(), salt),
                salt,
                LocalDateTime.now(ZoneOffset.UTC));
    }

    private static String newSalt() {
        var salt = new StringBuilder(SALT_LENGTH);
        RANDOM.ints(SALT_LENGTH, 'A', 'Z' + 1).forEach(salt::appendCodePoint);
        return salt.toString();
    }

    static String hash(String password, String salt) {
        var key = new PBEKeySpec(
                password.toCharArray(), salt.getBytes(StandardCharsets.UTF_8), ITERATIONS, KEY_BITS);
        try {
            var factory = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA1");
            return HexFormat.of().withUpperCase().formatHex(factory.generateSecret(key).getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has PBKDF2 with SHA-1", e);
        }
    }
}
