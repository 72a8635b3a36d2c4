import { dirname } from 'node:path';
import type { StoredRow } from '../../engines/shared/rows/stored-rows.ts';

/** Marks of a migration program's migrations in a database and in a working tree. */
export interface MigrationTool {
  tool: string;
  /** Name of its table, in lower case and in any schema. */
  table: string;
  /** Columns that the table has, in lower case. */
  columns: string[];
  /** Columns of another program's table of the same name. */
  without?: string[];
  /** The migration of a row; `null` for one that is not applied. */
  version: (row: StoredRow) => string | null;
  /** Columns by which rows are in the order in which they were applied; default: the version. */
  order?: string[];
  /** Other names by which a person may know a migration. */
  aliases?: (version: string) => string[];
  /** The table has the newest version only, a number: it includes all lower ones. */
  newestOnly?: true;
  /** Applies all migrations of the working tree, as a step of `after_load`. */
  apply: string;
  files: MigrationFiles;
}

export interface MigrationFiles {
  /** https://git-scm.com/docs/gitglossary#Documentation/gitglossary.txt-pathspec */
  paths: string[];
  /** The migrations of a file of the working tree, by its path, and by its content where that is needed. */
  versions: (path: string, content: () => Promise<string>) => string[] | Promise<string[]>;
  /** Returns the part that the versions of database and working tree have in common. Default: the version. */
  key?: (version: string) => string;
  /** The folder that has the files of one database, among those of others. Default: that of the file. */
  group?: (path: string) => string;
  /** The migrations before that of a file, where the database has the newest one only. */
  follows?: (content: string) => string[];
  /** Reports whether the working tree could have the migration at all. */
  covers?: (version: string, keys: ReadonlySet<string>) => boolean;
}

/** Each in the usual folders of the program. */
export const MIGRATION_TOOLS: MigrationTool[] = [
  {
    // https://guides.rubyonrails.org/active_record_migrations.html
    tool: 'rails',
    apply: 'bin/rails db:migrate',
    ...{ table: 'schema_migrations', columns: ['version'], without: ['dirty'] },
    version: ({ version = null }) => version,
    files: { paths: glob('**/db/migrate/*.rb'), versions: (path) => found(path, /\/(\d+)_[^/]*\.rb$/) },
  },
  {
    // https://docs.djangoproject.com/en/stable/topics/migrations/
    tool: 'django',
    apply: 'python manage.py migrate',
    ...{ table: 'django_migrations', columns: ['id', 'app', 'name'], order: ['id'] },
    version: ({ app, name }) => (app && name ? `${app}.${name}` : null),
    aliases: (version) => [version.slice(version.indexOf('.') + 1)],
    files: {
      paths: glob('**/migrations/*.py'),
      versions: (path) => {
        const [, app, name] = /(?:^|\/)([^/]+)\/migrations\/(\d{4}_[^/]*)\.py$/.exec(path) ?? [];
        return app && name ? [`${app}.${name}`] : [];
      },
      group: () => '',
      // Applications of packages are not in the working tree.
      covers: (version, keys) => [...keys].some((key) => key.startsWith(version.slice(0, version.indexOf('.') + 1))),
    },
  },
  {
    // https://www.prisma.io/docs/orm/prisma-migrate
    tool: 'prisma',
    apply: 'npx prisma migrate deploy',
    ...{ table: '_prisma_migrations', columns: ['migration_name', 'finished_at', 'rolled_back_at'] },
    order: ['finished_at', 'migration_name'],
    version: ({ migration_name: name = null, finished_at: finished, rolled_back_at: reverted }) =>
      finished && !reverted ? name : null,
    files: {
      paths: glob('**/migrations/*/migration.sql'),
      group: (path) => dirname(dirname(path)),
      versions: (path) => found(path, /\/migrations\/([^/]+)\/migration\.sql$/),
    },
  },
  {
    // https://orm.drizzle.team/docs/drizzle-kit-migrate
    tool: 'drizzle',
    apply: 'npx drizzle-kit migrate',
    ...{ table: '__drizzle_migrations', columns: ['hash', 'created_at'], order: ['created_at'] },
    version: ({ created_at: created = null }) => created,
    files: {
      paths: glob('**/meta/_journal.json'),
      versions: async (_, content) =>
        [...(await content()).matchAll(/"when"\s*:\s*(\d+)/g)].map(([, when = '']) => when),
    },
  },
  {
    // https://documentation.red-gate.com/fd/flyway-schema-history-table-273973417.html
    tool: 'flyway',
    apply: 'flyway migrate',
    ...{ table: 'flyway_schema_history', columns: ['installed_rank', 'version', 'success'], order: ['installed_rank'] },
    version: ({ version = null, success }) => (isTrue(success) ? version : null),
    files: {
      paths: glob('**/db/migration/**/V*__*', '**/migrations/**/V*__*', '**/sql/**/V*__*'),
      versions: (path) => found(path, /\/V([\d._]+)__[^/]*$/),
      key: (version) => version.replaceAll('_', '.').replaceAll(/\b0+(?=\d)/g, ''),
    },
  },
  {
    // https://docs.liquibase.com/concepts/tracking-tables/databasechangelog-table.html
    tool: 'liquibase',
    apply: 'liquibase update',
    ...{ table: 'databasechangelog', columns: ['id', 'author', 'filename', 'orderexecuted'], order: ['orderexecuted'] },
    version: ({ id, author, filename }) => (id ? `${filename ?? ''}::${id}::${author ?? ''}` : null),
    aliases: (version) => [version.split('::').at(-2) ?? version],
    files: {
      paths: ['xml', 'yaml', 'yml', 'json', 'sql'].flatMap((type) =>
        glob(`**/db/changelog/**/*.${type}`, `**/liquibase/**/*.${type}`, `**/changelog/**/*.${type}`),
      ),
      versions: async (_, content) => changeSets(await content()),
      group: () => '',
      key: (version) => (version.includes('::') ? (version.split('::').at(-2) ?? version) : version),
    },
  },
  {
    // https://alembic.sqlalchemy.org/en/latest/tutorial.html
    tool: 'alembic',
    apply: 'alembic upgrade head',
    ...{ table: 'alembic_version', columns: ['version_num'] },
    version: ({ version_num: version = null }) => version,
    files: {
      paths: glob('**/versions/*.py'),
      versions: async (_, content) => found(await content(), /^revision\s*(?::[^=\n]*)?=\s*['"]([^'"\n]+)['"]/m),
      follows: (content) => {
        const [, before = ''] = /^down_revision\s*(?::[^=\n]*)?=\s*(.*)$/m.exec(content) ?? [];
        return [...before.matchAll(/['"]([^'"]+)['"]/g)].map(([, revision = '']) => revision);
      },
    },
  },
  {
    // https://github.com/golang-migrate/migrate/blob/master/MIGRATIONS.md
    tool: 'golang-migrate',
    apply: 'migrate -path migrations -database "$DATABASE_URL" up',
    ...{ table: 'schema_migrations', columns: ['version', 'dirty'] },
    version: ({ version = null }) => version,
    newestOnly: true,
    files: {
      paths: glob('**/migrations/*.up.*', '**/migration/*.up.*', '**/migrate/*.up.*'),
      versions: (path) => found(path, /\/(\d+)_[^/]*\.up\.[^/]*$/),
      key: (version) => version.replace(/^0+(?=\d)/, ''),
    },
  },
  {
    // https://knexjs.org/guide/migrations.html
    tool: 'knex',
    apply: 'npx knex migrate:latest',
    ...{ table: 'knex_migrations', columns: ['id', 'name', 'batch'], order: ['id'] },
    version: ({ name = null }) => name,
    aliases: (version) => [withoutExtension(version)],
    files: {
      paths: glob('**/migrations/*.js', '**/migrations/*.ts', '**/migrations/*.?js', '**/migrations/*.?ts'),
      versions: (path) => found(path, /\/migrations\/(\d[^/]*)$/),
      // Sources in TypeScript may run as JavaScript.
      key: withoutExtension,
    },
  },
  {
    // https://typeorm.io/docs/migrations/why
    tool: 'typeorm',
    apply: 'npx typeorm migration:run --dataSource data-source.js',
    ...{ table: 'migrations', columns: ['id', 'timestamp', 'name'], order: ['id'] },
    version: ({ name = null }) => name,
    files: {
      paths: glob('**/migrations/*-*.?s', '**/migration/*-*.?s'),
      versions: (path) => found(path, /\/(\d{10,})-[^/]*\.[jt]s$/),
      key: (version) => /\d{10,}/.exec(version)?.[0] ?? version,
    },
  },
];

/** Files below the top of the repository, in any folder. */
function glob(...patterns: string[]): string[] {
  return patterns.map((pattern) => `:(top,glob)${pattern}`);
}

function found(text: string, pattern: RegExp): string[] {
  // A folder at the top has no slash before it.
  const version = pattern.exec(text)?.[1] ?? pattern.exec(`/${text}`)?.[1];
  return version === undefined ? [] : [version];
}

/** Ids of change sets in XML, YAML, JSON and SQL. */
function changeSets(content: string): string[] {
  const patterns = [
    /<changeSet\b[^>]*?\bid\s*=\s*["']([^"'\n]+)["']/g,
    /changeSet:\s*(?:#[^\n]*)?\n\s+(?:\w+:[^\n]*\n\s+){0,6}?id:\s*["']?([^"'\n#]+?)["']?\s*(?:#[^\n]*)?$/gm,
    /"changeSet"\s*:\s*\{[^{}]*?"id"\s*:\s*"([^"\n]+)"/g,
    /^--\s*changeset\s+[^\s:]+:(\S+)/gim,
  ];
  return patterns.flatMap((pattern) => [...content.matchAll(pattern)].map(([, id = '']) => id.trim()));
}

function isTrue(value: string | null | undefined): boolean {
  return value === 't' || value === 'true' || value === '1' || value === '\u0001';
}

function withoutExtension(name: string): string {
  return name.replace(/\.[cm]?[jt]s$/, '');
}
