package bakeoff.locations

data class ElasticConfig(val host: String, val port: Int)

data class Config(
    val elastic: ElasticConfig,
    val closest: ClosestStrategy,
    val engine: Engine,
    /** Connections that may wait to be accepted, for the engines that http4k gives a number of its own. */
    val backlog: Int,
    val withContract: Boolean
) {
    companion object {
        fun from(environment: Map<String, String>): Config {
            val host = environment.required("GOOUT_ELASTIC_HOST")
            val port = environment.required("GOOUT_ELASTIC_PORT")
            val backlog = environment["BACKLOG"] ?: "1000"
            val strategies = ClosestStrategy.values().associateBy { it.name.toLowerCase().replace('_', '-') }
            val engines = Engine.values().associateBy { it.name.toLowerCase() }
            return Config(
                elastic = ElasticConfig(
                    host = host,
                    port = port.toIntOrNull()?.takeIf { it in 1..65_535 }
                        ?: throw ConfigError("GOOUT_ELASTIC_PORT is not a port number: $port")
                ),
                closest = environment.choice("CLOSEST", strategies, "one-query"),
                engine = environment.choice("ENGINE", engines, "undertow"),
                backlog = backlog.toIntOrNull()?.takeIf { it > 0 }
                    ?: throw ConfigError("BACKLOG is not a number of connections: $backlog"),
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
