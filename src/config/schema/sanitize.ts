import * as v from 'valibot';
import { optionalKey } from './key.ts';
import { destinationUrl, path, sql, storageProfile } from './values.ts';

export const sanitizeSchema = v.strictObject({
  dst_url: optionalKey(destinationUrl, 'Database to sanitize in.', {
    example: 'postgres://localhost:5432/app_sanitized',
  }),
  query_file: optionalKey(path, 'File of the query.', { example: './sanitize.sql', effect: 'runs_file' }),
  override_query: optionalKey(sql, 'Query, plain or base64; overrides override.san_query and query_file.', {
    example: "UPDATE users SET email = 'user' || id || '@example.com';",
  }),
  require_classified: optionalKey(v.boolean(), 'Publishes only columns that sanitize.lock.yml classifies.', {
    example: false,
  }),
  storage_profile: optionalKey(storageProfile, 'Storage profile of sanitized snapshots.'),
});
