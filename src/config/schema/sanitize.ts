import * as v from 'valibot';
import { traits } from './traits.ts';
import { destinationUrl, path, sql, storageProfile } from './values.ts';

export const sanitizeSchema = v.strictObject({
  dst_url: v.exactOptional(
    v.pipe(
      destinationUrl,
      v.description('Database to sanitize in.'),
      v.examples(['postgres://localhost:5432/app_sanitized']),
    ),
  ),
  query_file: v.exactOptional(
    v.pipe(path, v.description('File of the query.'), v.examples(['./sanitize.sql']), traits({ effect: 'runs_file' })),
  ),
  override_query: v.exactOptional(
    v.pipe(
      sql,
      v.description('Query, plain or base64; overrides override.san_query and query_file.'),
      v.examples(["UPDATE users SET email = 'user' || id || '@example.com';"]),
    ),
  ),
  storage_profile: v.exactOptional(v.pipe(storageProfile, v.description('Storage profile of sanitized snapshots.'))),
});
