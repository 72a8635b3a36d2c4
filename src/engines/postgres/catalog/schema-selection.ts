import type { SchemaConfig } from '../../../config/schema/settings.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../../results/events.ts';
import { leftOutSchemasOf } from '../../../results/manifest/left-out-schemas.ts';

const DEFAULT_SCHEMA = 'public';

export interface SchemaSelection {
  schemas: string[];
  warnings: WarningEvent[];
}

/**
 * Selects among `available`: the schemas of the database for a build, of the snapshot for a load. Rules: section
 * "schema_config" of the configuration reference. Excluding a schema that the build left out (`leftOut`) is no
 * mistake.
 */
export function selectSchemas(available: string[], config: SchemaConfig | undefined, leftOut: string[] = []) {
  const { include_schemas: included, exclude_schemas: excluded, use_default_schema: onlyDefault } = config ?? {};
  if (included && included.length > 0) return among(available, included);
  if (excluded && excluded.length > 0) {
    const schemas = available.filter((schema) => !excluded.includes(schema));
    const remaining = excluded.filter((schema) => !leftOut.includes(schema));
    return { schemas, warnings: among(available, remaining).warnings };
  }
  if (onlyDefault === false) return { schemas: available, warnings: [] };
  return among(available, [DEFAULT_SCHEMA]);
}

/** Returns the schemas that the build left out. If the build did not record them, any excluded schema may be one. */
export function leftOutByBuild(manifest: Pick<Manifest, 'details'>, config: SchemaConfig | undefined): string[] {
  const leftOut = leftOutSchemasOf(manifest);
  return leftOut === null ? (config?.exclude_schemas ?? []) : leftOut.map(({ schema }) => schema);
}

function among(available: string[], wanted: string[]): SchemaSelection {
  const missing = wanted.filter((schema) => !available.includes(schema));
  return {
    schemas: available.filter((schema) => wanted.includes(schema)),
    warnings: missing.map((schema) => ({
      event: 'warning',
      code: 'schema_not_found',
      message: `Schema "${schema}" does not exist; there are: ${available.join(', ') || 'none'}`,
    })),
  };
}
