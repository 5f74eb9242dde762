import kbuild as kb


@kb.struct
class Body:
    mass: float
    position: kb.vec3
    active: bool


@kb.func
def moved(body: Body, by: kb.vec3):
    result = body
    result.position = body.position + by
    return result


@kb.kernel
def structs(bodies: kb.array(dtype=Body), first: Body):
    i = kb.tid()
    bodies[i] = moved(first, kb.vec3(0.0, 1.0, 0.0))
    bodies[i].active = not first.active
    bodies[0] = Body(mass=1.0)
