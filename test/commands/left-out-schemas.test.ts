import { beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

describeWithPostgres('schemas that schema_config leaves out', () => {
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE orders (id int); INSERT INTO orders VALUES (1);
        CREATE SCHEMA audit; CREATE TABLE audit.log (id int); CREATE TABLE audit.visit (id int);
        CREATE SCHEMA "my sales"; CREATE TABLE "my sales".invoice (id int); CREATE SCHEMA empty`,
    });
  }, 60_000);

  const configured = (schemaConfig: string, database = 'shop') =>
    configuredCli(
      [
        'targets:',
        '  app:',
        '    snapshot:',
        `      src_url: ${server.url(database)}`,
        `      dst_url: ${server.url('shop_dev')}`,
        `      schema_config: ${schemaConfig}`,
        '',
      ].join('\n'),
    );

  const ALL = 'audit (2 tables), empty (0 tables), my sales (1 table)';
  const LEFT_OUT = /\n {2}Left out +audit \(2 tables\), empty \(0 tables\), my sales \(1 table\)\n/;

  it('are listed with their number of tables by build, target and the plan of a load', async () => {
    const cli = await configured('');
    const built = await cli.tool(['build', 'app']);
    expect(built).toMatchObject({ exit: 0, stdout: expect.stringContaining(`\nNot in snapshot 0: ${ALL}\n`) });
    expect(built.stderr).toContain(`without schemas ${ALL}`);
    expect((await cli.tool(['target', 'app'])).stdout).toContain(`\nNot in snapshot 0: ${ALL}\n`);
    const { last } = await cli.json(['target', 'app']);
    expect(last.snapshots).toMatchObject([
      {
        left_out_schemas: [
          { schema: 'audit', tables: 2 },
          { schema: 'empty', tables: 0 },
          { schema: 'my sales', tables: 1 },
        ],
      },
    ]);
    expect((await cli.tool(['load', 'app', '--dry-run'])).stdout).toMatch(LEFT_OUT);
  }, 60_000);

  it('are a warning where they have rows and nobody chose the schemas', async () => {
    await server.createDatabase('busy');
    await server.psql('busy', {
      sql: 'CREATE SCHEMA audit; CREATE TABLE audit.log AS SELECT 1 AS id; CREATE SCHEMA empty',
    });
    const warned = async (schemaConfig: string): Promise<string[]> => {
      const cli = await configured(schemaConfig, 'busy');
      const { stdout } = await cli.tool(['build', 'app', '--json']);
      return stdout.split('\n').filter((line) => line.includes('"schemas_left_out"'));
    };
    expect(await warned('')).toEqual([expect.stringMatching(/1 table with 8\.2 kB .* public: audit\. /)]);
    const cli = await configured('', 'busy');
    const built = await cli.tool(['build', 'app']);
    expect(built.stdout).toContain('\nNot in snapshot 0: audit (1 table, 8.2 kB), empty (0 tables)\n');
    const { last } = await cli.json(['load', 'app', '--dry-run']);
    const message = expect.stringContaining('without the schemas audit (1 table, 8.2 kB), which');
    expect(last.plan).toMatchObject({ warnings: [{ code: 'schemas_left_out', message }] });
    expect(await warned('{exclude_schemas: [audit]}')).toEqual([]);
    expect(await warned('{use_default_schema: true}')).toEqual([]);
  }, 60_000);

  it('are no warning of a load that excludes them, unlike a schema that was never there', async () => {
    const cli = await configured('{exclude_schemas: [audit, nowhere]}');
    const built = await cli.tool(['build', 'app']);
    expect(built.stdout).toContain('\nNot in snapshot 0: audit (2 tables)\n');
    expect(built.stderr.match(/does not exist/g)).toHaveLength(1);
    const { last } = await cli.json(['load', 'app', '--dry-run']);
    expect(last.plan).toMatchObject({
      schemas: ['empty', 'my sales', 'public'],
      warnings: [{ code: 'schema_not_found', message: expect.stringContaining('"nowhere"') }],
    });
  }, 60_000);

  it('are not listed when there are none, and are equal for a sanitized snapshot', async () => {
    const whole = await configured('{use_default_schema: false}');
    expect((await whole.tool(['build', 'app'])).stdout).not.toContain('Not in snapshot');
    expect((await whole.tool(['target', 'app', '--json'])).stdout).not.toContain('left_out_schemas');

    const cli = await configured('\n    sanitize: {override_query: "UPDATE orders SET id = 2"}');
    expect((await cli.tool(['build', 'app', '--yes'])).exit).toBe(0);
    const { stdout } = await cli.tool(['load', 'app', '--dry-run']);
    expect(stdout).toMatch(/\n {2}Data +SAFE, sanitized/);
    expect(stdout).toMatch(LEFT_OUT);
  }, 120_000);

  it('are not missed by the internal triggers of their references to a partitioned table', async () => {
    await server.createDatabase('booked');
    await server.psql('booked', {
      sql: `CREATE TABLE booking (id int PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE booking_1 PARTITION OF booking FOR VALUES FROM (0) TO (9);
        CREATE SCHEMA billing; CREATE TABLE billing.invoice (booking int REFERENCES booking)`,
    });
    const built = await (await configured('', 'booked')).tool(['build', 'app']);
    expect(built).toMatchObject({ exit: 0, stdout: expect.stringContaining('Not in snapshot 0: billing (1 table)') });
    expect(built.stderr).not.toContain('RI_ConstraintTrigger');
  }, 60_000);
});
