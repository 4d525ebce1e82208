package bakeoff.locations

import jakarta.servlet.FilterChain
import jakarta.servlet.http.HttpServletRequest
import jakarta.servlet.http.HttpServletResponse
import org.slf4j.LoggerFactory
import org.springframework.core.Ordered
import org.springframework.core.annotation.Order
import org.springframework.stereotype.Component
import org.springframework.web.filter.OncePerRequestFilter
import java.util.concurrent.TimeUnit

private val log = LoggerFactory.getLogger("Http")

/** One line for each request. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class RequestLog : OncePerRequestFilter() {
    override fun doFilterInternal(request: HttpServletRequest, response: HttpServletResponse, chain: FilterChain) {
        val start = System.nanoTime()
        try {
            chain.doFilter(request, response)
        } finally {
            val uri = request.requestURI + (request.queryString?.let { "?$it" } ?: "")
            val duration = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
            log.info("{} {} {} {} ms", request.method, uri, response.status, duration)
        }
    }
}
