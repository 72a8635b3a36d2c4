import * as v from 'valibot';
import { traits } from './traits.ts';
import { baseCopyKeys, destinationUrl, sourceUrl, text } from './values.ts';

const schemaName = v.pipe(text, traits({ names: 'schema' }));

export const schemaConfigSchema = v.strictObject({
  include_schemas: v.exactOptional(
    v.pipe(
      v.array(schemaName),
      v.description('Only these schemas; overrides exclude_schemas.'),
      v.examples([['public', 'sales']]),
    ),
  ),
  exclude_schemas: v.exactOptional(
    v.pipe(v.array(schemaName), v.description('All schemas except these.'), v.examples([['audit']])),
  ),
  use_default_schema: v.exactOptional(
    v.pipe(v.boolean(), v.description('true: only public; false: all schemas; default true.'), v.examples([true])),
  ),
});

export const snapshotSchema = v.strictObject({
  src_url: v.exactOptional(
    v.pipe(
      sourceUrl,
      v.description('Source database.'),
      v.examples(['postgres://app:{{`APP_PASSWORD` | env}}@db.example.com:5432/app']),
    ),
  ),
  dst_url: v.exactOptional(
    v.pipe(
      destinationUrl,
      v.description('Destination of loads, created or replaced.'),
      v.examples(['postgres://localhost:5432/app_copy']),
    ),
  ),
  role: v.exactOptional(
    v.pipe(
      text,
      v.description('Owner of restored objects (PostgreSQL); default: the owner of the replaced database.'),
      v.examples(['app_owner']),
    ),
  ),
  ...baseCopyKeys,
  schema_config: v.exactOptional(
    v.pipe(schemaConfigSchema, v.description('Schemas of builds and loads (PostgreSQL).')),
  ),
});
