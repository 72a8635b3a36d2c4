import type { DatabaseUrl, Host } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { addressesOfHost, THIS_MACHINE } from '../../shared/connection/host-addresses.ts';
import { findClientTools } from './tools.ts';
import { connectionEnvironment, portOf, serviceOf } from './url.ts';

/** By the rules of libpq: URL, environment, service file. */
export async function addressesOf(context: EngineContext, url: DatabaseUrl): Promise<Set<string>> {
  const { environment } = context;
  const service = serviceOf(context, url);
  if (service !== null) return addressesOfService(context, { url, service });
  // libpq connects to `hostaddr`; the host is only a name then.
  const hostaddr = url.parameters.hostaddr ?? (environment.PGHOSTADDR || undefined);
  const given = hostaddr
    ?.split(',')
    .map((host, index) => ({ host, port: (url.hosts[index] ?? url.hosts[0])?.port ?? null }));
  return addressesOfHosts(given ?? url.hosts, environment);
}

/** Only libpq can resolve a service: pg_isready prints its server. */
async function addressesOfService(
  context: EngineContext,
  { url, service }: { url: DatabaseUrl; service: string },
): Promise<Set<string>> {
  const [tools] = await findClientTools(context);
  if (!tools) return new Set();
  const { service: _, ...parameters } = url.parameters;
  const connection = connectionEnvironment({ ...url, parameters });
  const { stdout } = await context.runner.run(
    {
      file: tools.pg_isready,
      ...connection,
      args: ['--timeout=1', ...connection.args],
      env: { ...connection.env, PGSERVICE: service },
    },
    { signal: context.signal },
  );
  const { host, port } = /^(?<host>.*):(?<port>\d+) - /.exec(stdout)?.groups ?? {};
  return host === undefined ? new Set() : addressesOfHosts([{ host, port: Number(port) }], {});
}

async function addressesOfHosts(hosts: Host[], environment: NodeJS.ProcessEnv): Promise<Set<string>> {
  const found = await Promise.all(
    hosts.map(async (host) => {
      const addresses = await addressesOfGiven(host, environment);
      return addresses.map((address) => `${address}:${portOf(host, environment)}`);
    }),
  );
  return new Set(found.flat());
}

async function addressesOfGiven({ host }: Host, environment: NodeJS.ProcessEnv): Promise<string[]> {
  const name = host === '' ? (environment.PGHOST ?? '') : host;
  if (name === '' || name.startsWith('/') || name.startsWith('@')) return [THIS_MACHINE];
  return addressesOfHost(name);
}

export async function isLocalHost(host: string): Promise<boolean> {
  return (await addressesOfGiven({ host, port: null }, {})).includes(THIS_MACHINE);
}
