/** Of a snapshot that `build --program` has made: `built with mariadb-dump 10.11.14; rows are loaded by the server's own client`. */
export function programText(program: string): string {
  return `built with ${program}; rows are loaded by the server's own client`;
}
