import { definePicture } from "../../../base/inspect.ts";

class Thing {
  static {
    definePicture(Thing, "Thing", () => "ready");
  }
}

console.log(new Thing());
console.log({ nested: new Thing() });
