package bakeoff.locations

/** The HTTP servers the service can run on. */
enum class Engine { NETTY, JETTY }

data class Config(val elasticHost: String, val elasticPort: Int, val engine: Engine) {
    companion object {
        private val engines = Engine.values().associateBy { it.name.toLowerCase() }

        fun from(environment: Map<String, String>): Config {
            val host = environment.required("GOOUT_ELASTIC_HOST")
            val port = environment.required("GOOUT_ELASTIC_PORT")
            val engine = environment["ENGINE"] ?: "netty"
            return Config(
                elasticHost = host,
                elasticPort = port.toIntOrNull()?.takeIf { it in 1..65_535 }
                    ?: throw ConfigError("GOOUT_ELASTIC_PORT is not a port number: $port"),
                engine = engines[engine]
                    ?: throw ConfigError("ENGINE is $engine, must be one of ${engines.keys.joinToString()}")
            )
        }

        private fun Map<String, String>.required(name: String) =
            get(name)?.takeIf { it.isNotBlank() } ?: throw ConfigError("the environment variable $name is not set")
    }
}

class ConfigError(message: String) : Exception(message)
