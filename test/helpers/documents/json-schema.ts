/** As much of JSON Schema as the schema of the configuration uses; a keyword that is not known is an error of the test. */
export interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  minItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | false;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

const ANNOTATIONS = ['$schema', 'title', 'description', 'examples', 'default'];

type Check = (value: never, limit: never, schema: JsonSchema) => boolean;

const CHECKS: Record<string, Check> = {
  type: (value: unknown, type: string) => typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer'),
  const: (value: unknown, wanted: unknown) => value === wanted,
  enum: (value: unknown, choices: unknown[]) => choices.includes(value),
  pattern: (value: string, pattern: string) => new RegExp(pattern, 'u').test(value),
  minLength: (value: string, limit: number) => value.length >= limit,
  minItems: (value: unknown[], limit: number) => value.length >= limit,
  minimum: (value: number, limit: number) => value >= limit,
  exclusiveMinimum: (value: number, limit: number) => value > limit,
  maximum: (value: number, limit: number) => value <= limit,
  required: (value: object, keys: string[]) => keys.every((key) => key in value),
  propertyNames: (value: object, names: JsonSchema) => Object.keys(value).every((name) => accepts(names, name)),
  items: (value: unknown[], items: JsonSchema) => value.every((item) => accepts(items, item)),
  anyOf: (value: unknown, choices: JsonSchema[]) => choices.some((choice) => accepts(choice, value)),
  properties: (value: Record<string, unknown>, properties: Record<string, JsonSchema>) =>
    Object.entries(properties).every(([key, schema]) => !(key in value) || accepts(schema, value[key])),
  additionalProperties: (value: Record<string, unknown>, schema: JsonSchema | false, { properties = {} }) =>
    Object.keys(value).every((key) => key in properties || (schema !== false && accepts(schema, value[key]))),
};

export function accepts(schema: JsonSchema, value: unknown): boolean {
  // The other keywords speak of values of the right type only.
  if (schema.type !== undefined && !CHECKS.type?.(value as never, schema.type as never, schema)) return false;
  return Object.entries(schema).every(([keyword, limit]) => {
    if (ANNOTATIONS.includes(keyword)) return true;
    const check = CHECKS[keyword];
    if (!check) throw new Error(`The test knows nothing of the keyword ${keyword}`);
    return check(value as never, limit as never, schema);
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
