/** A part that only readers of the repository need, between two comments. */
const REPOSITORY_ONLY = /<!-- repository -->[\s\S]*?<!-- \/repository -->\n*/g;

/** Returns the README of the packages: without what is about the repository alone. */
export function packageReadme(readme: string): string {
  return readme.replaceAll(REPOSITORY_ONLY, "");
}
