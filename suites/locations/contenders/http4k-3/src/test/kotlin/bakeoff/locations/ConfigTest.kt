package bakeoff.locations

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

class ConfigTest {
    private val required = mapOf("GOOUT_ELASTIC_HOST" to "elastic", "GOOUT_ELASTIC_PORT" to "9200")

    @Test
    fun `takes defaults where it may`() {
        val expected = Config(
            8080,
            ElasticConfig("elastic", 9200),
            ClosestStrategy.ONE_QUERY,
            Engine.UNDERTOW,
            backlog = 1_000,
            withContract = true
        )
        assertEquals(expected, Config.from(required))
        assertEquals(
            expected.copy(engine = Engine.SUNHTTP, withContract = false),
            Config.from(required + mapOf("ENGINE" to "sunhttp", "CONTRACT" to "off"))
        )
        assertEquals(
            expected.copy(closest = ClosestStrategy.TWO_QUERIES, engine = Engine.APACHE4, backlog = 100),
            Config.from(required + mapOf("CLOSEST" to "two-queries", "ENGINE" to "apache4", "BACKLOG" to "100"))
        )
    }

    @Test
    fun `names what is wrong`() {
        check(emptyMap(), "the environment variable GOOUT_ELASTIC_HOST is not set")
        check(required - "GOOUT_ELASTIC_PORT", "the environment variable GOOUT_ELASTIC_PORT is not set")
        check(required + ("GOOUT_ELASTIC_PORT" to "0"), "GOOUT_ELASTIC_PORT is not a sensible number: 0")
        check(required + ("CONTRACT" to "maybe"), "CONTRACT is maybe, must be one of on, off")
        check(required + ("ENGINE" to "steam"), "ENGINE is steam, must be one of undertow, jetty, netty, apache5, apache4, sunhttp")
        check(required + ("BACKLOG" to "0"), "BACKLOG is not a sensible number: 0")
        check(required + ("CLOSEST" to "none"), "CLOSEST is none, must be one of one-query, two-queries")
    }

    private fun check(environment: Map<String, String>, message: String) =
        assertEquals(message, assertThrows(ConfigError::class.java) { Config.from(environment) }.message)
}
