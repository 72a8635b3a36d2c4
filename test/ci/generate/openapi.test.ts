import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../.ci/generate/openapi.ts';
import { ROUTES } from '../../../src/cloud/contract/routes.ts';

const file = new URL('../../../assets/openapi.json', import.meta.url).pathname;

async function problemsOf(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The address is that of whoever runs the hub; `/` is the route that needs no parameter.
      'no-server-example.com': 'off',
      // A range of statuses (4XX) counts as none.
      'operation-4xx-response': 'off',
    },
  });
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: file, config });
  return found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
}

test('assets/openapi.json equals the document generated from the routes', () => {
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});

test('the linter finds nothing in the document', async () => {
  expect(await problemsOf(openApiDocument())).toEqual([]);
});

test('the linter finds a parameter that is not declared', async () => {
  const document = JSON.parse(JSON.stringify(openApiDocument())) as { paths: Record<string, object> };
  document.paths['/targets/{nowhere}'] = document.paths['/targets/{name}'] ?? {};
  expect(await problemsOf(document)).not.toEqual([]);
});

test('every route is in the document once, with its security', () => {
  const { paths } = openApiDocument() as {
    paths: Record<string, Record<string, { operationId: string; security: [] }>>;
  };
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(ROUTES).sort());
  const open = operations.filter(({ security }) => security.length === 0).map(({ operationId }) => operationId);
  expect(open.sort()).toEqual(['createSession', 'openapi', 'root']);
});

test('requests are strict objects, so that the hub refuses unknown fields', () => {
  const isStrict = (schema: unknown): boolean => {
    const { type, entries, wrapped, item, value } = schema as Record<string, unknown>;
    if (type === 'object' || type === 'loose_object') return false;
    const parts = [...Object.values((entries ?? {}) as object), wrapped, item, value];
    return parts.filter((part) => part !== undefined).every(isStrict);
  };
  for (const route of Object.values(ROUTES)) {
    if ('body' in route) expect(isStrict(route.body), route.path).toBe(true);
    if ('query' in route) expect(isStrict(route.query), route.path).toBe(true);
  }
});
