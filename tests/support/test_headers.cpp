// Nothing: a target of precompiled headers wants a source.
