package bakeoff.locations

data class ElasticConfig(val host: String, val port: Int)

data class Config(
    val port: Int,
    val elastic: ElasticConfig,
    val closest: ClosestStrategy,
    val engine: Engine,
    /** Connections that may wait to be accepted, for the engines that http4k gives a number of its own. */
    val backlog: Int,
    val withContract: Boolean
) {
    companion object {
        private val engines = Engine.values().associateBy { it.name.toLowerCase() }
        private val strategies = ClosestStrategy.values().associateBy { it.name.toLowerCase().replace('_', '-') }

        fun from(environment: Map<String, String>) = Config(
            port = environment.number("PORT", "8080", ports),
            elastic = ElasticConfig(
                host = environment.required("GOOUT_ELASTIC_HOST"),
                port = environment.number("GOOUT_ELASTIC_PORT", null, ports)
            ),
            closest = environment.choice("CLOSEST", strategies, "one-query"),
            engine = environment.choice("ENGINE", engines, "undertow"),
            backlog = environment.number("BACKLOG", "1000", 1..Int.MAX_VALUE),
            withContract = environment.choice("CONTRACT", mapOf("on" to true, "off" to false), "on")
        )
    }
}

class ConfigError(message: String) : RuntimeException(message)

private fun Map<String, String>.required(name: String) =
    get(name)?.takeIf { it.isNotBlank() } ?: throw ConfigError("the environment variable $name is not set")

private val ports = 1..65_535

private fun Map<String, String>.number(name: String, default: String?, range: IntRange): Int {
    val text = if (default == null) required(name) else get(name) ?: default
    return text.toIntOrNull()?.takeIf { it in range } ?: throw ConfigError("$name is not a sensible number: $text")
}

private fun <T> Map<String, String>.choice(name: String, known: Map<String, T>, default: String): T {
    val chosen = get(name) ?: default
    return known[chosen] ?: throw ConfigError("$name is $chosen, must be one of ${known.keys.joinToString()}")
}
