package bakeoff.locations

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

class ConfigTest {
    private val required = mapOf("GOOUT_ELASTIC_HOST" to "elastic", "GOOUT_ELASTIC_PORT" to "9200")

    @Test
    fun `takes what it needs`() = assertEquals(Config("elastic", 9200), Config.from(required))

    @Test
    fun `names what is wrong`() {
        check(emptyMap(), "the environment variable GOOUT_ELASTIC_HOST is not set")
        check(required - "GOOUT_ELASTIC_PORT", "the environment variable GOOUT_ELASTIC_PORT is not set")
        check(required + ("GOOUT_ELASTIC_PORT" to "0"), "GOOUT_ELASTIC_PORT is not a port number: 0")
    }

    private fun check(environment: Map<String, String>, message: String) =
        assertEquals(message, assertThrows(ConfigError::class.java) { Config.from(environment) }.message)
}
