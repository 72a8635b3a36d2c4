import * as v from 'valibot';
import { afterLoad } from './after-load.ts';
import { optionalKey } from './key.ts';
import { traits } from './traits.ts';
import { baseCopyKeys, destinationUrl, duration, sourceUrl, tableName, text, tunnelUrl } from './values.ts';

const schemaName = v.pipe(text, traits({ names: 'schema' }));

export const schemaConfigSchema = v.strictObject({
  include_schemas: optionalKey(v.array(schemaName), 'Only these schemas; overrides exclude_schemas.', {
    example: ['public', 'sales'],
  }),
  exclude_schemas: optionalKey(v.array(schemaName), 'All schemas except these.', { example: ['audit'] }),
  use_default_schema: optionalKey(v.boolean(), 'true: only public; false: all schemas; default true.', {
    example: true,
  }),
});

export const snapshotSchema = v.strictObject({
  src_url: optionalKey(sourceUrl, 'Source database.', {
    example: 'postgres://app:{{`APP_PASSWORD` | env}}@db.example.com:5432/app',
  }),
  src_tunnel: optionalKey(tunnelUrl, 'SSH login through which src_url is reached, as seen from there.', {
    example: 'ssh://deploy@bastion.example.com',
  }),
  dst_url: optionalKey(destinationUrl, 'Destination of loads, created or replaced.', {
    example: 'postgres://localhost:5432/app_copy',
  }),
  dst_tunnel: optionalKey(tunnelUrl, 'SSH login through which dst_url is reached, as seen from there.', {
    example: 'ssh://deploy@staging.example.com:2222',
  }),
  role: optionalKey(text, 'Owner of restored objects (PostgreSQL); default: the owner of the replaced database.', {
    example: 'app_owner',
  }),
  ...baseCopyKeys,
  schema_config: optionalKey(schemaConfigSchema, 'Schemas of builds and loads (PostgreSQL).'),
  full_every: optionalKey(
    duration,
    'Longest time between builds that read all rows, also those proved to be unchanged (PostgreSQL); default 7d.',
    { example: '7d' },
  ),
  exclude_rows: optionalKey(v.array(tableName), 'Tables whose rows are never read; * matches any characters.', {
    example: ['public.audit_log', 'public.event_*'],
  }),
  nullify: optionalKey(v.boolean(), 'References to tables of exclude_rows become NULL where their columns allow it.', {
    example: false,
  }),
  after_load: afterLoad,
});
