package bakeoff.locations

data class ElasticConfig(val host: String, val port: Int)

data class Config(val elastic: ElasticConfig, val engine: Engine, val withContract: Boolean) {
    companion object {
        fun from(environment: Map<String, String>): Config {
            val host = environment.required("GOOUT_ELASTIC_HOST")
            val port = environment.required("GOOUT_ELASTIC_PORT")
            val engines = Engine.values().associateBy { it.name.toLowerCase() }
            return Config(
                elastic = ElasticConfig(
                    host = host,
                    port = port.toIntOrNull()?.takeIf { it in 1..65_535 }
                        ?: throw ConfigError("GOOUT_ELASTIC_PORT is not a port number: $port")
                ),
                engine = environment.choice("ENGINE", engines, "undertow"),
                withContract = environment.choice("CONTRACT", mapOf("on" to true, "off" to false), "on")
            )
        }
    }
}

class ConfigError(message: String) : RuntimeException(message)

private fun Map<String, String>.required(name: String) =
    get(name)?.takeIf { it.isNotBlank() } ?: throw ConfigError("the environment variable $name is not set")

private fun <T> Map<String, String>.choice(name: String, known: Map<String, T>, default: String): T {
    val chosen = get(name) ?: default
    return known[chosen] ?: throw ConfigError("$name is $chosen, must be one of ${known.keys.joinToString()}")
}
