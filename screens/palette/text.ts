export function openSnapshotText(id: string, target: string): string {
  return `Open snapshot ${id} of ${target}`;
}
