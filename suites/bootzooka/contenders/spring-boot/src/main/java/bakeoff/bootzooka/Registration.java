package bakeoff.bootzooka;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** What somebody sends to register; a field that is missing is null. */
record Registration(String login, String email, String password) {
    private static final int LOGIN_LENGTH_MIN = 3;

    /** A valid e-mail address as the HTML standard defines it. */
    private static final Pattern EMAIL = Pattern.compile(
            "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
                    + "(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*");

    /** The same without spaces around it; empty if it is not valid. */
    Optional<Registration> valid() {
        if (login == null || email == null || password == null) {
            return Optional.empty();
        }
        var trimmed = new Registration(login.trim(), email.trim().toLowerCase(Locale.ROOT), password);
        var valid = trimmed.login.length() >= LOGIN_LENGTH_MIN
                && EMAIL.matcher(trimmed.email).matches()
                && !password.isEmpty();
        return valid ? Optional.of(trimmed) : Optional.empty();
    }

    String loginLowercase() {
        return login.toLowerCase(Locale.ROOT);
    }
}
