package bakeoff.locations

data class Config(val elasticHost: String, val elasticPort: Int) {
    companion object {
        fun from(environment: Map<String, String>): Config {
            val host = environment.required("GOOUT_ELASTIC_HOST")
            val port = environment.required("GOOUT_ELASTIC_PORT")
            return Config(
                elasticHost = host,
                elasticPort = port.toIntOrNull()?.takeIf { it in 1..65_535 }
                    ?: throw ConfigError("GOOUT_ELASTIC_PORT is not a port number: $port")
            )
        }

        private fun Map<String, String>.required(name: String) =
            get(name)?.takeIf { it.isNotBlank() } ?: throw ConfigError("the environment variable $name is not set")
    }
}

class ConfigError(message: String) : Exception(message)
