import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemsText } from '../../src/cli/printers/problems.ts';
import { createStyle } from '../../src/cli/printers/style.ts';
import { variableName } from '../../src/config/environment.ts';
import type { Inspection } from '../../src/config/load.ts';
import { fc } from '../helpers/fast-check.ts';
import { mutations } from '../helpers/mutations.ts';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';
import { trials } from '../helpers/trials.ts';

const part = trials('configurations/files');

const SECRETS = [
  'Tr0ub4dor&3-cloud',
  'Tr0ub4dor&3-source',
  'Tr0ub4dor&3-copy',
  'Tr0ub4dor&3-access',
  'Tr0ub4dor&3-bucket',
];
const [CLOUD, SOURCE, COPY, ACCESS, BUCKET] = SECRETS;

const FILE = withKey(`authtoken: ${CLOUD}
env: production
base_url: https://cloud.example.com
defaults: {cpus: 2}
override:
  dst_db_url: postgres://me:${COPY}@localhost/override
sso:
  idp:
    provider_url: https://idp.example.com
    client_id: tool
    access_token: $aes$000102030405060708090a0b0c0d0e0f
storage_profiles:
  team:
    provider: s3
    bucket: snapshots
    region: eu-central-1
    access_key: "${ACCESS}"
    secret_key: '${BUCKET}'
  minio: &minio {provider: minio, bucket: b, endpoint: "http://localhost:9000", cli_profile: work}
targets:
  app: &app
    name: Application # the one
    storage_profile: team
    snapshot:
      src_url: "postgres://app:${SOURCE}@db.example.com:5432/app"
      dst_url: "postgres://app:{{\`PW\` | env}}@localhost/app_copy"
      schema_config:
        include_schemas: [public, sales]
        exclude_schemas:
          - audit
    subset:
      src_url: postgresql://app@db.example.com/app
      dst_url: postgres://localhost/app_subset
      subset_tables:
        - table: public.orders
          where: id < 100
        - {table: public.items, percent: 5}
      copy_tables: [public.countries]
    sso_groups:
      - developers
  other:
    <<: *app
    sanitize: {override_query: "DELETE FROM users"}
`);

const EXAMPLE = readFileSync(new URL('../../tool.example.yml', import.meta.url), 'utf8');

const NAMES = [
  'defaults.cpus',
  'targets',
  'targets.app',
  'targets.app.snapshot.src_url',
  'sso.x',
  'storage_profiles.team',
  'debug',
  'targets.app.subset.copy_tables',
  'targets.app.subset.subset_tables',
  'env',
  'docker.images.postgres',
];
const name = fc.oneof(
  fc.constantFrom(...NAMES).map((key) => variableName(key.split('.'))),
  fc.constantFrom(...NAMES).chain((key) => mutations(variableName(key.split('.')))),
  fc.string({ unit: fc.constantFrom(...'ABC_TOL__'), maxLength: 12 }).map((rest) => `TOOL_${rest}`),
);
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '4',
    'four',
    'true',
    '',
    '[]',
    '{',
    '{app: 1}',
    '[{table: public.a}]',
    '__proto__',
    '*a',
    'a,b',
    '{{`PW` | env}}',
  ),
  mutations('{app: {snapshot: {src_url: "postgres://u@h/d"}, cpus: 2}}'),
  mutations('postgres://u:{{`PW` | env}}@h:5432/d'),
);

/** Errors that stand in the way only of who needs what they are about. */
const DEFERRED = [
  ...['template_failed', 'query_file_not_found', 'destination_is_source'],
  ...['storage_profile_not_found', 'source_missing', 'destination_missing'],
];

test(part.title('mutated files and variables cause no crash; every error has a location and shows no secret'), {
  timeout: part.timeout,
}, async () => {
  const folder = await configFolder({ 'tool.yml': '' });
  const style = createStyle({ color: false, unicode: true });
  const property = fc.asyncProperty(
    fc.oneof({ weight: 3, arbitrary: mutations(FILE) }, { weight: 1, arbitrary: mutations(EXAMPLE) }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.dictionary(name, value, { maxKeys: 4 }) },
    ),
    async (file, variables: Record<string, string>) => {
      await folder.write('tool.yml', file);
      const inspection = await folder.inspect({ environment: { PW: 'x', APP_PASSWORD: 'x', ...variables } });
      expectLocated(inspection);
      const said = problemsText(inspection.problems, { text: inspection.text, style }).flat().join('\n');
      expect(said).not.toMatch(/undefined|\[object|call stack|Tr0ub4dor|^ +at .*\.[jt]s:\d+:\d+\)$/m);
      expect(JSON.stringify(inspection.problems)).not.toContain('Tr0ub4dor');
      const { configuration, problems } = inspection;
      const errors = problems.filter(
        ({ severity, code, key }) =>
          severity === 'error' && !DEFERRED.includes(code) && !key.startsWith('storage_profiles.'),
      );
      // The invalid name of a target stops only where the source of the target is not known.
      const stopping = errors.filter(({ code }) => code !== 'invalid_name');
      if (stopping.length === errors.length || stopping.length > 0) {
        expect(configuration === null).toBe(stopping.length > 0);
      }
    },
  );
  await part.each(({ run }) => fc.assert(property, run));
});

/** Every problem is at a place of the file, or names its variable. */
function expectLocated({ problems, text }: Inspection): void {
  const lines = text.split('\n');
  for (const { line, column, message, file } of problems) {
    if (file === null) {
      expect(message).toMatch(/TOOL_|no configuration/);
    } else {
      const written = line === null ? undefined : lines[line - 1];
      expect({ message, line, isThere: written !== undefined }).toEqual({ message, line, isThere: true });
      const isInLine = column !== null && column >= 1 && column <= (written?.length ?? 0) + 1;
      expect({ message, column, isInLine }).toEqual({ message, column, isInLine: true });
    }
  }
}
