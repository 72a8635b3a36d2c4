interface Shape {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  additionalProperties?: Shape | boolean;
  propertyNames?: Shape;
  [limit: string]: unknown;
}

type Content = Record<string, { schema: Shape }>;

interface Route {
  security?: unknown[];
  parameters?: { name: string; required?: boolean; schema: Shape }[];
  requestBody?: { required?: boolean; content?: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
}

/** A JSON Schema of output, or an OpenAPI document. */
export interface ContractDocument extends Shape {
  $defs?: Record<string, Shape>;
  paths?: Record<string, Record<string, Route>>;
  components?: { schemas?: Record<string, Shape> };
}

/** A later document keeps each promise, and has no new demand on what existed. */
class Contract {
  readonly promises = new Set<string>();
  readonly demands = new Map<string, { at: string; value: unknown }>();

  demand(at: string, rule: string, value: unknown): void {
    this.demands.set(`${at} ${rule}`, { at, value });
  }
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const LIMIT = /^(?:(?:exclusive)?(?:max|min)[A-Z]?[a-z]+|pattern|format)$/;

/**
 * Lists what fails a reader or a caller of the earlier document with the later one. New keys, events, routes and values
 * are no breaking changes: a reader ignores them.
 */
export function breakingChanges(earlier: ContractDocument, later: ContractDocument): string[] {
  const [before, after] = [contractOf(earlier), contractOf(later)];
  const lost = [...before.promises].filter((promise) => !after.promises.has(promise));
  const gained = [...after.demands].filter(
    ([rule, { at, value }]) => before.promises.has(at) && isNarrower(rule, before.demands.get(rule)?.value, value),
  );
  return [...lost.map((promise) => `lost: ${promise}`), ...gained.map(([rule]) => `new: ${rule}`)];
}

function isNarrower(rule: string, before: unknown, after: unknown): boolean {
  if (Array.isArray(before) && Array.isArray(after)) return before.some((value) => !after.includes(value));
  if (typeof before !== 'number' || typeof after !== 'number') return before !== after;
  return /max[A-Z]?[a-z]+$/i.test(rule) ? after < before : after > before;
}

function contractOf(document: ContractDocument): Contract {
  const contract = new Contract();
  addOutput(contract, document, 'output');
  const shapes = { ...document.$defs, ...document.components?.schemas };
  for (const [name, shape] of Object.entries(shapes)) addOutput(contract, shape, name);
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, route] of Object.entries(methods)) addRoute(contract, route, `${method.toUpperCase()} ${path}`);
  }
  return contract;
}

function addRoute(contract: Contract, { security = [], parameters = [], requestBody, responses }: Route, at: string) {
  contract.promises.add(at);
  if (security.length > 0) contract.demand(at, 'token', true);
  for (const { name, required, schema } of parameters) {
    addInput(contract, schema, `${at} ?${name}`);
    if (required) contract.demand(at, `required ?${name}`, true);
  }
  if (requestBody?.required) contract.demand(at, 'required body', true);
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {}))
    addInput(contract, schema, `${at} ${type}`);
  for (const [status, { $ref = '', content = {} }] of Object.entries(responses)) {
    contract.promises.add(`${at} ${status} ${$ref}`);
    for (const [type, { schema }] of Object.entries(content)) addOutput(contract, schema, `${at} ${status} ${type}`);
  }
}

function addOutput(contract: Contract, shape: Shape, place: string): void {
  const at = addPlace(contract, shape, place);
  for (const choice of choicesOf(shape)) addOutput(contract, choice, at);
  if (shape.type === 'null') contract.demand(at, 'null', true);
  else if (shape.type !== undefined) contract.promises.add(`${at}: ${shape.type}`);
  if (shape.$ref !== undefined) contract.promises.add(`${at}: ${shape.$ref}`);
  for (const value of valuesOf(shape)) contract.promises.add(`${at} = ${JSON.stringify(value)}`);
  for (const key of shape.required ?? []) contract.promises.add(`${at}.${key} always`);
  for (const [key, property] of Object.entries(shape.properties ?? {})) addOutput(contract, property, `${at}.${key}`);
  if (shape.items) addOutput(contract, shape.items, `${at}[]`);
  if (typeof shape.additionalProperties === 'object') addOutput(contract, shape.additionalProperties, `${at}.*`);
}

function addInput(contract: Contract, shape: Shape, place: string): void {
  const at = addPlace(contract, shape, place);
  const choices = choicesOf(shape);
  for (const choice of choices) addInput(contract, choice, at);
  if (choices.length > 0) return;
  const types = shape.type === undefined ? TYPES : [shape.type, ...(shape.type === 'number' ? ['integer'] : [])];
  for (const type of types) contract.promises.add(`${at}: ${type}`);
  const values = valuesOf(shape);
  if (values.length > 0) contract.demand(at, 'values', values);
  for (const limit of Object.keys(shape).filter((key) => LIMIT.test(key))) contract.demand(at, limit, shape[limit]);
  for (const key of shape.required ?? []) contract.demand(at, `required .${key}`, true);
  for (const [key, property] of Object.entries(shape.properties ?? {})) addInput(contract, property, `${at}.${key}`);
  if (shape.type === 'array') addInput(contract, shape.items ?? {}, `${at}[]`);
  if (shape.type !== 'object') return;
  addInput(contract, shape.propertyNames ?? {}, `${at} keys`);
  if (shape.additionalProperties === false) contract.demand(at, 'no other keys', true);
  if (typeof shape.additionalProperties === 'object') addInput(contract, shape.additionalProperties, `${at}.*`);
}

/** Names an event or result by its constant texts, so that each of a union is compared with itself. */
function addPlace(contract: Contract, { properties = {} }: Shape, at: string): string {
  const constants = Object.values(properties).map((property) => property.const);
  const texts = constants.filter((value) => typeof value === 'string');
  const place = texts.length > 0 ? `${at}(${texts.join()})` : at;
  contract.promises.add(at).add(place);
  return place;
}

function choicesOf(shape: Shape): Shape[] {
  return shape.anyOf ?? shape.oneOf ?? [];
}

function valuesOf(shape: Shape): unknown[] {
  return 'const' in shape ? [shape.const] : (shape.enum ?? []);
}
