import * as v from 'valibot';
import { traits } from './traits.ts';
import { destinationUrl, path, sql, storageProfile } from './values.ts';

export const sanitizeSchema = v.strictObject({
  dst_url: v.exactOptional(
    v.pipe(
      destinationUrl,
      v.description('Destination of the sanitized database.'),
      v.examples(['postgres://localhost:5432/app_sanitized']),
    ),
  ),
  query_file: v.exactOptional(
    v.pipe(
      path,
      v.description(
        'File with the SQL that removes what is sensitive; used when no query is set elsewhere. A relative path starts at the configuration, the current folder or working_directory: the first that has it.',
      ),
      v.examples(['./sanitize.sql']),
      traits({ effect: 'runs_file' }),
    ),
  ),
  override_query: v.exactOptional(
    v.pipe(
      sql,
      v.description('SQL, may be base64; wins over override.san_query and query_file.'),
      v.examples(["UPDATE users SET email = 'user' || id || '@example.com';"]),
    ),
  ),
  storage_profile: v.exactOptional(v.pipe(storageProfile, v.description('Storage profile for sanitized snapshots.'))),
});
