/** A module of a package that the platform packages can be resolved from. */
export interface PlatformPackages {
  /** Its own URL. */
  readonly url: string;
}

/** The package that brings the platform packages: none where they can be resolved from this module. The copy for JSR imports it from npm. */
export const loadPlatformPackages = (): Promise<PlatformPackages | undefined> => Promise.resolve(undefined);
