package bakeoff.bootzooka;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The routes of the service. */
@RestController
class Api {
    /** What every answer but the page is. */
    record Message(String message) {}

    private static final Logger LOG = LoggerFactory.getLogger("Http");
    private static final String PAGE = "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head>"
            + "<body><h1>Welcome</h1></body></html>\n";

    private final Users users;

    Api(Users users) {
        this.users = users;
    }

    @GetMapping(path = "/", produces = MediaType.TEXT_HTML_VALUE)
    String page() {
        return PAGE;
    }

    @PostMapping("/api/users/register")
    ResponseEntity<Message> register(@RequestBody Registration registration) {
        var valid = registration.valid();
        if (valid.isEmpty()) {
            return answer(HttpStatus.BAD_REQUEST, "the login, e-mail address or password is invalid");
        }
        return users.taken(valid.get())
                .or(() -> users.add(User.from(valid.get())))
                .map(taken -> answer(HttpStatus.CONFLICT, taken.message))
                .orElseGet(() -> answer(HttpStatus.OK, "success"));
    }

    @ExceptionHandler
    ResponseEntity<Message> notReadable(HttpMessageNotReadableException e) {
        return answer(HttpStatus.BAD_REQUEST, "the body is not a registration");
    }

    @ExceptionHandler({DataAccessException.class, TransactionException.class})
    ResponseEntity<Message> unavailable(Exception e) {
        LOG.error("the database did not do what was asked", e);
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "the database does not answer");
    }

    private static ResponseEntity<Message> answer(HttpStatus status, String message) {
        return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON).body(new Message(message));
    }
}
