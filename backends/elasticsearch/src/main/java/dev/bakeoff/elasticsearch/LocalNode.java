package dev.bakeoff.elasticsearch;

import java.util.List;
import java.util.Map;
import org.elasticsearch.analysis.common.CommonAnalysisPlugin;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.mapper.MapperExtrasPlugin;
import org.elasticsearch.index.reindex.ReindexPlugin;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.painless.PainlessPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.transport.Netty4Plugin;

/** A node with the modules that the suites need, loaded from the class path. */
final class LocalNode extends Node {
    private static final List<Class<? extends Plugin>> MODULES =
            List.of(
                    Netty4Plugin.class,
                    CommonAnalysisPlugin.class,
                    PainlessPlugin.class,
                    ReindexPlugin.class,
                    MapperExtrasPlugin.class,
                    GeoShapePlugin.class);

    private LocalNode(Settings settings) {
        super(
                InternalSettingsPreparer.prepareEnvironment(
                        settings, Map.of(), null, () -> "bakeoff"),
                MODULES,
                false);
    }

    static LocalNode create(Options options) {
        return new LocalNode(
                Settings.builder()
                        .put("cluster.name", "bakeoff")
                        .put("node.name", "bakeoff")
                        .put("discovery.type", "single-node")
                        .put("path.home", options.data())
                        .put("path.data", options.data().resolve("data"))
                        .put("path.logs", options.data().resolve("logs"))
                        .put("http.type", "netty4")
                        .put("http.host", options.host())
                        .put("http.port", options.port())
                        // Nobody joins this cluster: any free port on loopback will do.
                        .put("transport.type", "netty4")
                        .put("transport.host", "127.0.0.1")
                        .put("transport.port", "0")
                        // A nearly full disk must not make indices read-only in mid-measurement.
                        .put("cluster.routing.allocation.disk.threshold_enabled", false)
                        .put("action.auto_create_index", false)
                        .build());
    }
}
