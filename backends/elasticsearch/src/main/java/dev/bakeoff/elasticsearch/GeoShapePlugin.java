package dev.bakeoff.elasticsearch;

import java.util.Map;
import org.elasticsearch.index.mapper.GeoShapeFieldMapper;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.plugins.MapperPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * Registers the {@code geo_shape} field type. Its mapper is part of the server; the vendor's
 * distribution registers it from a module that is not published as a library.
 */
public final class GeoShapePlugin extends Plugin implements MapperPlugin {
    @Override
    public Map<String, Mapper.TypeParser> getMappers() {
        return Map.of(GeoShapeFieldMapper.CONTENT_TYPE, new GeoShapeFieldMapper.TypeParser());
    }
}
