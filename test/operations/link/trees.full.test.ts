import { writeFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { createRepository } from '../../helpers/linked-repository.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { runTreeRounds } from './tree-rounds.ts';

const ROUNDS = Number(process.env.TREE_ROUNDS ?? 200);
const TREES = 20;

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'working trees', () => {
    const server = suiteResource(() => startAnyServer(kind));
    const repository = suiteResource(() => createRepository(server));

    beforeAll(async () => {
      await repository.link();
    }, 60_000);

    it(`get ${TREES} databases at once`, async () => {
      const { git, gitAtOnce, databaseOf, path, branches, prune, rowsIn } = repository;
      const names = Array.from({ length: TREES }, (_, index) => `at-once-${index}`);
      // Git takes turns for its own files; the hook of all trees is what runs at once.
      for (const name of names) git('main', 'worktree', 'add', '--quiet', '--no-checkout', path(name), '-b', name);
      const printed = await Promise.all(names.map((name) => gitAtOnce(name, 'checkout', '--quiet', '-f', name)));
      expect(printed.filter((line) => !line.includes('has the database of new branch'))).toEqual([]);
      const databases = await Promise.all(names.map(databaseOf));
      expect(new Set(databases).size).toBe(TREES);
      expect(await branches()).toHaveLength(TREES);
      for (const database of databases) expect(await rowsIn(database)).toBe(1);
      for (const name of names) git('main', 'worktree', 'remove', '--force', path(name));
      expect((await prune()).dropped).toHaveLength(TREES);
    }, 180_000);

    it(`have a database of their own over ${ROUNDS} random rounds`, async () => {
      await writeFile(repository.path('main/.env.local'), repository.environment());
      await runTreeRounds(repository, { rounds: ROUNDS, seed: 40 });
    }, 1_200_000);
  });
}
