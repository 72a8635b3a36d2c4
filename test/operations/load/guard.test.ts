import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import type { RunEvent } from '../../../src/events.ts';
import { refuseSources } from '../../../src/operations/load/guard.ts';
import { describeWithPostgres, testContext } from '../../helpers/postgres-server.ts';

describeWithPostgres('a source whose server takes a connection and never answers', () => {
  it('is compared with the destination by its address, with a warning, and holds nothing up for longer', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const events: RunEvent[] = [];
    const targets = { app: { snapshot: { src_url: `postgres://somebody@127.0.0.1:${port}/app` } } };
    const context = testContext({ settings: { targets }, events });
    const warning = expect.objectContaining({ event: 'warning', code: 'guard_incomplete' });

    await refuseSources(context, parsePostgresUrl(`postgres://somebody@127.0.0.1:${port}/other`));
    expect(events).toContainEqual(warning);
    const same = refuseSources(context, parsePostgresUrl(`postgres://localhost:${port}/app`));
    await expect(same).rejects.toMatchObject({ code: 'destination_is_source' });
    server.close();
  }, 30_000);
});
