package bakeoff.locations

import jakarta.servlet.RequestDispatcher.ERROR_STATUS_CODE
import jakarta.servlet.http.HttpServletRequest
import org.apache.tomcat.util.http.InvalidParameterException
import org.slf4j.LoggerFactory
import org.springframework.boot.webmvc.error.ErrorController
import org.springframework.http.HttpHeaders
import org.springframework.http.HttpStatus
import org.springframework.http.HttpStatusCode
import org.springframework.http.MediaType.APPLICATION_JSON
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.MissingServletRequestParameterException
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.RequestMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.bind.annotation.RestControllerAdvice
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException
import org.springframework.web.ErrorResponse as SpringError

private val log = LoggerFactory.getLogger("Errors")

/** Every error that a controller or Spring itself throws, as JSON. */
@RestControllerAdvice
class Errors {
    @ExceptionHandler
    fun missing(e: MissingServletRequestParameterException) =
        failure(HttpStatus.BAD_REQUEST, "${e.parameterName} is missing")

    @ExceptionHandler
    fun invalid(e: MethodArgumentTypeMismatchException) = failure(HttpStatus.BAD_REQUEST, "${e.name} is invalid")

    @ExceptionHandler
    fun undecodable(e: InvalidParameterException) = failure(HttpStatus.BAD_REQUEST, "a parameter is invalid")

    @ExceptionHandler
    fun badRequest(e: BadRequest) = failure(HttpStatus.BAD_REQUEST, e.message)

    @ExceptionHandler
    fun noSuchCity(e: NoSuchCity) = failure(HttpStatus.NOT_FOUND, e.message)

    @ExceptionHandler
    fun unavailable(e: StoreUnavailable, request: HttpServletRequest): ResponseEntity<ErrorResponse> {
        log.error("{} {}", request.method, request.requestURI, e)
        return failure(HttpStatus.SERVICE_UNAVAILABLE, "the database does not answer")
    }

    /** The errors of Spring know their status; anything else is a mistake of ours. */
    @ExceptionHandler
    fun other(e: Exception, request: HttpServletRequest): ResponseEntity<ErrorResponse> {
        if (e is SpringError) return failure(e.statusCode, messageOf(e.statusCode), e.headers)
        log.error("{} {}", request.method, request.requestURI, e)
        return failure(HttpStatus.INTERNAL_SERVER_ERROR, messageOf(HttpStatus.INTERNAL_SERVER_ERROR))
    }
}

/** What Tomcat refuses or fails at outside of Spring's own servlet, instead of Spring Boot's page for browsers. */
@RestController
class ErrorPage : ErrorController {
    @RequestMapping("/error")
    fun error(request: HttpServletRequest): ResponseEntity<ErrorResponse> {
        // Absent when somebody asks for the page itself.
        val status = HttpStatusCode.valueOf(request.getAttribute(ERROR_STATUS_CODE) as Int? ?: 404)
        return failure(status, messageOf(status))
    }
}

private fun messageOf(status: HttpStatusCode): String = when {
    status == HttpStatus.NOT_FOUND -> "there is nothing here"
    status.is5xxServerError -> "something went wrong"
    else -> HttpStatus.resolve(status.value())?.reasonPhrase?.lowercase() ?: "the request is invalid"
}

/** The type is set here because a caller who accepts no JSON gets errors in it all the same. */
private fun failure(
    status: HttpStatusCode,
    message: String?,
    headers: HttpHeaders = HttpHeaders.EMPTY,
): ResponseEntity<ErrorResponse> = ResponseEntity.status(status)
    .headers(headers)
    .contentType(APPLICATION_JSON)
    .body(ErrorResponse(message ?: messageOf(status)))
