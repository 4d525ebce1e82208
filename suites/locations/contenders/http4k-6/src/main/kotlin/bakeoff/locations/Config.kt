package bakeoff.locations

data class Config(val port: Int, val elasticHost: String, val elasticPort: Int, val engine: Engine) {
    companion object {
        private val engines = Engine.entries.associateBy { it.title }

        fun from(environment: Map<String, String>): Config {
            val engine = environment["ENGINE"] ?: "jetty"
            return Config(
                port = port("PORT", environment["PORT"] ?: "8080"),
                elasticHost = environment.required("GOOUT_ELASTIC_HOST"),
                elasticPort = port("GOOUT_ELASTIC_PORT", environment.required("GOOUT_ELASTIC_PORT")),
                engine = engines[engine]
                    ?: throw ConfigError("ENGINE is $engine, must be one of ${engines.keys.joinToString()}"),
            )
        }

        private fun port(name: String, text: String): Int = text.toIntOrNull()?.takeIf { it in 1..65_535 }
            ?: throw ConfigError("$name is not a port number: $text")

        private fun Map<String, String>.required(name: String) =
            get(name)?.takeIf { it.isNotBlank() } ?: throw ConfigError("the environment variable $name is not set")
    }
}

class ConfigError(message: String) : Exception(message)
