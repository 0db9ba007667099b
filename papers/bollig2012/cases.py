"""The cases of the paper's two tests, as TOML."""

import math

import paper

HEAD = """# {title}
model = "transport"
[nodes]
{nodes}
[stencil]
{stencil}
[hyperviscosity]
{damping}
[velocity]
{velocity}
[[tracer]]
name = "h"
initial = "{initial}"
exact = "{exact}"
[time]
dt = {dt}
end = {end!r}
[output]
every = 0
[checkpoint]
minutes = 0
"""
# rho_0 = 3; the width of the front, which the paper does not give, is 5.
SPEED = "3*sqrt(3)/2 * (1 - tanh(3*cos(lat))^2) * tanh(3*cos(lat))"
TURNED = f"(cos(lat) < 1e-6 ? 1.5*sqrt(3) : {SPEED} / (3*cos(lat)))"
# Straight over both poles (alpha = pi/2), with time in 1/u_0: the axis is -x.
ALONG = "max(-1, min(1, {}))"
BELL = "acos({0}) < 1/3 ? 0.5*(1 + cos(3*pi*acos({0}))) : 0"


def nodes_key(nodes):
    """Of [nodes]: `nodes` is a file, or a kind and a number."""
    return f'file = "{nodes}"' if not isinstance(nodes, tuple) else f'generate = "{nodes[0]}"\ncount = {nodes[1]}'


def stencil_keys(test, size):
    """Of [stencil] and [hyperviscosity]: the paper's Gaussians with its tables' parameters; size None: tutti's default."""
    if size is None:
        return "", ""
    return f'basis = "gaussian"\nsize = {size}', f'kind = "paper"\ngamma_c = "{test}"'


def step_key(size, dt):
    """The paper's time step; tutti's default has a default one: its damping is per step."""
    return '"auto"' if size is None else repr(dt)


def vortex(nodes, size, end):
    stencil, damping = stencil_keys("vortex", size)
    return HEAD.format(title="Vortex roll-up, section 4.1", nodes=nodes_key(nodes), stencil=stencil, damping=damping,
                       velocity=f'east = "{SPEED} / 3"', initial="1 - tanh(3*cos(lat)/5 * sin(lon))",
                       exact=f"1 - tanh(3*cos(lat)/5 * sin(lon - t * {TURNED}))", dt=step_key(size, paper.FIGURE10["dt"]), end=float(end))


def bell(nodes, size, turns):
    stencil, damping = stencil_keys("bell", size)
    dt = 2 * math.pi / paper.FIGURE13["steps_a_turn"]
    return HEAD.format(title="Cosine bell, section 4.2", nodes=nodes_key(nodes), stencil=stencil, damping=damping,
                       velocity='cartesian = [0, "z", "-y"]', initial=BELL.format(ALONG.format("-y")),
                       exact=BELL.format(ALONG.format("z*sin(t) - y*cos(t)")), dt=step_key(size, dt), end=2 * math.pi * turns)


MAKE = {"vortex": vortex, "bell": bell}


def degree_for(size):
    """Of polynomials, as `tutti bench transport` takes it."""
    degree = 2
    while True:
        more = (degree + 2) * (degree + 3) // 2
        if more > size // 2 or size + more > 136:
            return degree
        degree += 1


def timed(nodes, size, operators, method, steps):
    """Steps of a turning sphere on Fibonacci's nodes, as `tutti bench transport` has them, for a run's own clocks."""
    return f"""# Figure 18
model = "transport"
[nodes]
generate = "fibonacci"
count = {nodes}
[stencil]
size = {size}
exponent = 5
degree = {degree_for(size)}
[hyperviscosity]
k = 1
beta = 0.3
[velocity]
east = "cos(lat)"
[numerics]
check = false
operators = "{'separate' if operators == 2 else 'auto'}"
[partition]
method = "{method}"
[balance]
weights = "equal"
[[tracer]]
name = "h"
initial = "z"
[time]
steps = {steps}
[output]
every = 0
[checkpoint]
minutes = 0
"""
