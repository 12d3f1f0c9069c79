throw new Error("this module doesn't load");
