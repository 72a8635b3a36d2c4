import { beforeAll, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { scratchPlaces } from '../../../../src/engines/postgres/sanitize/scratch-places.ts';
import { openPlace } from '../../../../src/operations/sanitize/sanitize-place.ts';
import { localRepository } from '../../../../src/operations/snapshots/local-repository.ts';
import { snapshotReader } from '../../../../src/operations/snapshots/snapshot-reader.ts';
import { findSnapshot } from '../../../../src/operations/snapshots/snapshots.ts';
import { createObjectPool } from '../../../../src/repository/objects/object-pool.ts';
import { startSanitizeFixture } from '../../../helpers/databases/sanitize-fixture.ts';
import { describeWithPostgres } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithPostgres('a throw-away database on the server that is loaded into', () => {
  const fixture = suiteResource(() => startSanitizeFixture());

  beforeAll(async () => {
    await fixture.reset();
  }, 60_000);

  it('stands behind a server of our own, is swept when a killed run has left it, and goes when it was used', async () => {
    const context = fixture.contextOf();
    const { server } = fixture;
    const places = await scratchPlaces(context, parsePostgresUrl(server.url('copy')));
    expect(places.map(({ label }) => label)).toEqual([
      'a throw-away PostgreSQL server',
      expect.stringContaining('on the server of postgres://'),
    ]);
    await server.createDatabase('copy.tool-sanitize.tool-new-00000000');
    await server.psql('postgres', {
      sql: `COMMENT ON DATABASE "copy.tool-sanitize.tool-new-00000000" IS '{"tool": "new", "of": "copy.tool-sanitize"}'`,
    });

    const { manifest } = await findSnapshot(context, { target: 'app' });
    const [, behind] = places;
    if (!behind) throw new Error('there is no second place');
    await using opened = await openPlace(context, { places: [{ ...behind, destination: null }], manifest });
    const repository = localRepository(context);
    await using staging = await repository.stage();
    await using pool = createObjectPool(2);
    let during: string[] = [];
    await opened.database.restore.run({
      ...opened.restoration,
      plan: opened.plan,
      cpus: 1,
      undo: false,
      directory: await staging.folder('restore'),
      read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
      throwAway: true,
      beforeSwap: async () => {
        during = await server.databases();
      },
    });
    const made = expect.stringMatching(/^copy\.tool-sanitize\.tool-new-(?!0{8})[0-9a-f]{8}$/);
    expect(during).toEqual([made, 'postgres', 'source']);
    expect(await server.databases()).toEqual(['postgres', 'source']);
  });
});
