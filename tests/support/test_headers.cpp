// Nothing: precompiled headers want a program with a source.
int main() {}
