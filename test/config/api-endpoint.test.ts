import { expect, test } from 'vitest';
import { apiEndpoint } from '../../src/config/api-endpoint.ts';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';

const BASES =
  'dev_api_url: http://127.0.0.1:4000\nstaging_api_url: https://staging.example\nbase_url: https://cloud.example/tool/\n';

async function endpoint(text: string): Promise<string> {
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  return apiEndpoint((await folder.load()).settings);
}

test('env selects the endpoint of the cloud API, production where it is not set', async () => {
  expect(await endpoint(`${BASES}env: development\n`)).toBe('http://127.0.0.1:4000/api/v3');
  expect(await endpoint(`${BASES}env: staging\n`)).toBe('https://staging.example/api/v3');
  expect(await endpoint(`${BASES}env: production\n`)).toBe('https://cloud.example/tool/api/v3');
  expect(await endpoint(BASES)).toBe('https://cloud.example/tool/api/v3');
});

test('only development has a base of its own', async () => {
  expect(await endpoint('env: development\n')).toBe('http://localhost:3000/api/v3');
});

test('an unset base URL is not a configuration problem, and an error for the cloud', async () => {
  for (const [env, key] of [
    ['staging', 'staging_api_url'],
    ['production', 'base_url'],
  ]) {
    const folder = await configFolder({ 'tool.yml': withKey(`env: ${env}\nauthtoken: t\n`) });
    const { configuration, problems } = await folder.inspect();
    expect(problems).toEqual([]);
    expect(() => configuration && apiEndpoint(configuration.settings)).toThrow(
      expect.objectContaining({
        code: 'api_url_missing',
        exit: 3,
        message: expect.stringContaining(`${key} is not set`),
      }),
    );
  }
});
