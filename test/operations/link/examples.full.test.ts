import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { exampleEnvironment } from '../../helpers/example-environment.ts';
import { createRepository } from '../../helpers/linked-repository.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL('../../../examples/working-trees/', import.meta.url));
const TREES = ['one', 'two'];

interface Framework {
  name: string;
  /** Of Debian, with a file of each. */
  packages: Record<string, string>;
  /** The untracked file with the URL. */
  file: string;
  key?: string;
  commands: string[];
  /** A migration of one tree only. */
  migration: (tree: string) => { file: string; text: string };
  /** The migrations of a database. */
  applied: string;
  /** The database of a tree's tests, which they leave. */
  tests?: (tree: string) => string;
}

const FRAMEWORKS: Framework[] = [
  {
    name: 'django',
    packages: {
      'python3-django': '/usr/lib/python3/dist-packages/django',
      'python3-django-environ': '/usr/lib/python3/dist-packages/environ',
      'python3-psycopg2': '/usr/lib/python3/dist-packages/psycopg2',
    },
    file: '.env',
    commands: ['python3 manage.py migrate', 'python3 manage.py test --noinput'],
    migration: (tree) => ({
      file: `shop/migrations/0002_${tree}.py`,
      text: `from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_order")]
    operations = [migrations.RunSQL("CREATE TABLE of_${tree} (id integer)")]
`,
    }),
    applied: "SELECT name FROM django_migrations WHERE app = 'shop' ORDER BY name",
  },
  {
    name: 'rails',
    packages: {
      'ruby-rails': '/usr/share/doc/ruby-rails',
      'ruby-pg': '/usr/share/doc/ruby-pg',
    },
    file: 'config/database.yml',
    key: 'development.database',
    commands: ['bin/rails db:migrate', 'bin/rails db:test:prepare', 'bin/rails test'],
    tests: (tree) => `shop_dev_${tree}-test`,
    migration: (tree) => ({
      file: `db/migrate/2026010${TREES.indexOf(tree) + 2}000000_of_${tree}.rb`,
      text: `class Of${tree[0]?.toUpperCase()}${tree.slice(1)} < ActiveRecord::Migration[6.1]
  def change
    create_table :of_${tree}
  end
end
`,
    }),
    applied: 'SELECT version FROM schema_migrations ORDER BY version',
  },
  {
    name: 'go',
    packages: {
      'golang-go': '/usr/bin/go',
      'golang-github-lib-pq-dev': '/usr/share/gocode/src/github.com/lib/pq',
      'golang-github-joho-godotenv-dev': '/usr/share/gocode/src/github.com/joho/godotenv',
    },
    file: '.env',
    commands: [
      'GO111MODULE=off GOPATH=/usr/share/gocode go run .',
      'GO111MODULE=off GOPATH=/usr/share/gocode go test -count=1 .',
    ],
    migration: (tree) => ({
      file: `migrations/0002_${tree}.sql`,
      text: `CREATE TABLE of_${tree} (id integer)\n`,
    }),
    applied: 'SELECT name FROM schema_migrations ORDER BY name',
  },
  {
    name: 'laravel',
    packages: {
      'php-laravel-framework': '/usr/share/php/Illuminate/Foundation',
      'php-pgsql': '/usr/share/doc/php-pgsql',
      phpunit: '/usr/bin/phpunit',
    },
    file: '.env',
    commands: ['php artisan migrate', 'phpunit --do-not-cache-result --bootstrap bootstrap/app.php tests'],
    migration: (tree) => ({
      file: `database/migrations/2026_01_02_000000_of_${tree}.php`,
      text: `<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration
{
    public function up()
    {
        Schema::create('of_${tree}', fn ($table) => $table->id());
    }
};
`,
    }),
    applied: 'SELECT migration FROM migrations ORDER BY migration',
  },
];

describeWithKind('postgres', 'the tests of examples/working-trees', () => {
  const server = suiteResource(() => startAnyServer('postgres'));

  for (const { name, packages, ...framework } of FRAMEWORKS) {
    const missing = Object.keys(packages).find((each) => !existsSync(packages[each] ?? ''));
    describe.skipIf(missing)(missing ? `${name} (skipped: ${missing} is not installed)` : name, () => {
      const repository = suiteResource(() => createRepository(server));

      beforeAll(async () => {
        const { git, path } = repository;
        await cp(`${EXAMPLES}${name}`, path('main/app'), { recursive: true });
        await writeFile(path('main/.gitignore'), `.env.local\ntool.yml\napp/${framework.file}\n`);
        git('main', 'add', '.');
        git('main', 'commit', '--quiet', '-m', name);
        const example = `${EXAMPLES}${name}/${framework.file}.example`;
        await writeFile(path(`main/app/${framework.file}`), await exampleEnvironment(example, server.url('shop_dev')));
      });

      afterAll(async () => {
        for (const database of await server.databases()) await server.drop(database);
      });

      it('pass in two trees at once, each with a migration of its own', async () => {
        const { git, path, link } = repository;
        await link({ file: `app/${framework.file}`, key: framework.key });
        for (const tree of TREES) {
          expect(git('main', 'worktree', 'add', '--quiet', path(tree), '-b', tree).status).toBe(0);
          const { file, text } = framework.migration(tree);
          await writeFile(path(`${tree}/app/${file}`), text);
        }
        await Promise.all(TREES.map((tree) => runAll(path(`${tree}/app`), framework.commands)));
        const [first = [], second = []] = await Promise.all(
          TREES.map((tree) => server.column(`shop_dev_${tree}`, framework.applied)),
        );
        expect([first.length, second.length]).toEqual([2, 2]);
        expect(first[0]).toBe(second[0]);
        expect(first[1]).not.toBe(second[1]);
        for (const tree of framework.tests ? TREES : []) {
          const database = framework.tests?.(tree) ?? '';
          expect(await server.column(database, framework.applied)).toEqual(tree === 'one' ? first : second);
        }
        const tables = 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()';
        expect(await server.column('shop_dev', tables)).toEqual(['person']);
      });
    });
  }
});

async function runAll(cwd: string, commands: string[]): Promise<void> {
  // Debian's programs before others of the same name.
  const env = { ...process.env, PATH: `/usr/bin:${process.env.PATH}` };
  for (const command of commands) await run('sh', ['-c', command], { cwd, env });
}
