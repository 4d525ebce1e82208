-- The table of the service. The statements run once in the empty database of each contender.
CREATE TABLE users (
    id UUID PRIMARY KEY,
    login VARCHAR NOT NULL,
    login_lowercase VARCHAR NOT NULL,
    email VARCHAR NOT NULL,
    password VARCHAR NOT NULL,
    salt VARCHAR NOT NULL,
    created_on TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX users_login_lowercase ON users (login_lowercase);
CREATE UNIQUE INDEX users_email ON users (email);
