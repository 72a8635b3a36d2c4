import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { checkForgedDefinitions, PRODUCTION } from '../../contracts/forged-definitions.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql/mysql-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { trials } from '../../helpers/trials.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
for (const flavour of FLAVOURS) {
  const part = trials(`borders/definitions-${flavour}`);
  if (part.isEmpty) continue;
  describeWithMysql(flavour, { name: 'mutated definitions' }, () => {
    const server = suiteResource(() => startMysql(flavour));
    let outside: { there: string; here: string };

    beforeAll(async () => {
      const here = join(server.directory, 'outside');
      await mkdir(here, { mode: 0o777 });
      outside = { here, there: flavour === 'mysql' ? '/mnt/outside' : here };
      await server.createDatabase(PRODUCTION);
      await server.sql(PRODUCTION, 'CREATE TABLE customer (id INT PRIMARY KEY)');
    }, 240_000);

    it(part.title('are refused or create what was checked'), { timeout: part.timeout }, async () => {
      const seen = new Set<string>();
      await part.each((round) => checkForgedDefinitions({ server, outside, seen }, round));
      if (part.isLong) expect([...seen].sort()).toEqual(['created', 'refused', 'refused by the server']);
    });
  });
}
