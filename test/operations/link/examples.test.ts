import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { exampleEnvironment } from '../../helpers/example-environment.ts';
import { createRepository } from '../../helpers/linked-repository.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL('../../../examples/working-trees/', import.meta.url));
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** One URL, or a variable for each part of it. The other frameworks are in examples.full.test.ts. */
const FOLDERS = ['laravel', 'prisma'];

describeWithKind('postgres', 'examples/working-trees', () => {
  const server = suiteResource(() => startAnyServer('postgres'));
  const repository = suiteResource(() => createRepository(server));

  beforeAll(async () => {
    await symlink(MODULES, repository.path('node_modules'));
    for (const name of FOLDERS) {
      await mkdir(repository.path(`main/${name}`));
      await copyFile(`${EXAMPLES}application.mjs`, repository.path(`main/${name}/application.mjs`));
    }
    await writeFile(repository.path('main/.gitignore'), '.env\n.env.local\ntool.yml\n');
    repository.git('main', 'add', '.');
    repository.git('main', 'commit', '--quiet', '-m', 'applications');
  }, 60_000);

  it.each(FOLDERS)('%s writes to a database of its own in two trees at once', async (name) => {
    const { path, git, link, unlink } = repository;
    const text = await exampleEnvironment(`${EXAMPLES}${name}/.env.example`, server.url('shop_dev'));
    await writeFile(path(`main/${name}/.env`), text);
    await link({ file: `${name}/.env` });
    const trees = [`${name}-one`, `${name}-two`];
    for (const tree of trees) expect(git('main', 'worktree', 'add', '--quiet', path(tree)).status).toBe(0);
    const printed = await Promise.all(
      trees.map(async (tree) => {
        const { stdout } = await run(process.execPath, ['application.mjs'], { cwd: path(`${tree}/${name}`) });
        return JSON.parse(stdout);
      }),
    );
    expect(printed).toEqual(trees.map((tree) => ({ database: `shop_dev_${tree.replace('-', '_')}`, rows: 2 })));
    expect(await repository.rowsIn('shop_dev')).toBe(1);
    await unlink();
    expect(await readdir(path(`${trees[0]}/${name}`))).toEqual(['application.mjs']);
  });
});
