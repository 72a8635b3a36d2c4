/** Files of assets/ that the program reads; the others are of its tests and its documentation. */
export const ASSETS = [
  'assets/demo/sanitize.sql',
  'assets/demo/shop.sql',
  'assets/openapi.json',
  'assets/tool.schema.json',
];
