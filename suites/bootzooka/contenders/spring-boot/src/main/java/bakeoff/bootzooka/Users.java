package bakeoff.bootzooka;

import java.util.Optional;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The table {@code users} in PostgreSQL. */
@Repository
class Users {
    /** Somebody else has it already. */
    enum Taken {
        LOGIN("the login is already in use"),
        EMAIL("the e-mail address is already in use");

        final String message;

        Taken(String message) {
            this.message = message;
        }
    }

    private final JdbcClient database;

    Users(JdbcClient database) {
        this.database = database;
    }

    Optional<Taken> taken(Registration registration) {
        if (exists("SELECT id FROM users WHERE login_lowercase = ?", registration.loginLowercase())) {
            return Optional.of(Taken.LOGIN);
        }
        if (exists("SELECT id FROM users WHERE email = ?", registration.email())) {
            return Optional.of(Taken.EMAIL);
        }
        return Optional.empty();
    }

    private boolean exists(String query, String value) {
        return database.sql(query).param(value).query().singleColumn().size() > 0;
    }

    /** Who else has it, if two register at the same time. */
    Optional<Taken> add(User user) {
        try {
            database.sql("""
                            INSERT INTO users (id, login, login_lowercase, email, password, salt, created_on)
                            VALUES (?, ?, ?, ?, ?, ?, ?)""")
                    .params(
                            user.id(),
                            user.login(),
                            user.loginLowercase(),
                            user.email(),
                            user.password(),
                            user.salt(),
                            user.createdOn())
                    .update();
            return Optional.empty();
        } catch (DuplicateKeyException e) {
            return Optional.of(e.getMessage().contains("users_email") ? Taken.EMAIL : Taken.LOGIN);
        }
    }
}
