"""What is learned by gradients: to throw balls onto targets, and to move one end of a chain by pulling the other.

A task has a `forward` that computes `loss` from `parameters` in launches, and the rate at which these are changed.
"""

import math

import kbuild as kb
from robosim import kernels, learning

DT = 0.01  # of the chain [s]


def _zeros(count, dtype, device):
    """What is computed on the way. With a gradient of its own, whose memory stays from one iteration to the next."""
    return kb.zeros(count, dtype=dtype, device=device, requires_grad=True)


class Throw:
    """Launch angles and speeds of balls that are to land on targets, without more speed than they need."""

    name = "throw"
    rate = 0.1

    def __init__(self, device, steps=200, count=32):
        self.steps, self.count, self.dt = 2 * steps, count, 2.0 / steps
        self.angle = kb.full(count, math.radians(60.0), dtype=float, device=device, requires_grad=True)
        self.speed = kb.full(count, 8.0, dtype=float, device=device, requires_grad=True)
        self.parameters = [self.angle, self.speed]
        self.target = kb.array([6.0 + 6.0 * i / count for i in range(count)], dtype=float, device=device)
        self.landed = _zeros(count, float, device)
        self.loss = _zeros(1, float, device)

    def forward(self):
        """The loss: the sum of the squares of all distances [m²], and a little for each speed."""
        self.loss.zero_()
        kb.launch(learning.throw, dim=self.count, inputs=[self.angle, self.speed, self.dt, self.steps, self.landed])
        kb.launch(learning.miss, dim=self.count, inputs=[self.landed, self.target, self.speed, 1.0e-4, self.loss])


class Chain:
    """Forces on the first particle of a chain of springs, one for each step, so that the last one draws a circle."""

    name = "chain"
    rate = 0.3

    def __init__(self, device, steps=200, count=3):
        self.steps, self.count = steps, count
        rest = 0.1
        line = [(rest * i, 0.0, 0.0) for i in range(count)]
        springs = [
            kernels.Spring(first=i, second=i + 1, length=rest, stiffness=400.0, damping=4.0) for i in range(count - 1)
        ]
        self.springs = kb.array(springs, dtype=kernels.Spring, device=device)
        self.control = kb.zeros((steps, 3), dtype=float, device=device, requires_grad=True)
        self.parameters = [self.control.reshape(3 * steps)]
        self.pos = [kb.array(line, dtype=kb.vec3, device=device)]
        self.pos += [_zeros(count, kb.vec3, device) for _ in range(steps)]
        self.vel = [kb.zeros(count, dtype=kb.vec3, device=device)]
        self.vel += [_zeros(count, kb.vec3, device) for _ in range(steps)]
        self.force = [_zeros(count, kb.vec3, device) for _ in range(steps)]
        turns = [2.0 * math.pi * (t + 1) / steps for t in range(steps)]
        circle = [(line[-1][0] + 0.1 * math.sin(turn), 0.1 * (1.0 - math.cos(turn)), 0.0) for turn in turns]
        self.target = kb.array(circle, dtype=kb.vec3, device=device)
        self.loss = _zeros(1, float, device)

    def forward(self):
        """The loss: the square of the distance to the circle over time [m² s], and a little for each force."""
        self.loss.zero_()
        for t in range(self.steps):
            pos, vel, force = self.pos[t], self.vel[t], self.force[t]
            force.zero_()
            kb.launch(kernels.spring_forces, dim=self.count - 1, inputs=[self.springs, pos, vel, force])
            before = [pos, vel, force, self.control, self.target, t, DT]
            after = [self.pos[t + 1], self.vel[t + 1], self.loss]
            kb.launch(learning.advance, dim=self.count, inputs=before, outputs=after)
        kb.launch(learning.effort, dim=(self.steps, 3), inputs=[self.control, 1.0e-8, self.loss])


TASKS = (Throw, Chain)


class Descent:
    """Improves a task's parameters: forward, backward, a step of Adam. On a GPU all that is one graph."""

    def __init__(self, task):
        self.task, self.tape, self.graph = task, None, None
        new = learning.Moments(early_mean=1.0, early_square=1.0)
        self.moments = [
            kb.array([new] * one.size, dtype=learning.Moments, device=one.device) for one in task.parameters
        ]

    def step(self):
        """One iteration; gives the loss before it."""
        if self.graph is not None:
            self.graph.launch()
            return self.task.loss.tolist()[0]
        self._work()
        loss = self.task.loss.tolist()[0]
        if self.task.loss.device.is_cuda:
            self._capture()
        return loss

    def _work(self):
        self.tape = kb.Tape()
        with self.tape:
            self.task.forward()
        self.tape.backward(self.task.loss)
        for one, moments in zip(self.task.parameters, self.moments):
            kb.launch(learning.adam, dim=one.size, inputs=[one, one.grad, moments, self.task.rate])

    def _capture(self):
        """The first iteration has told how much the adjoint kernels save; a capture cannot find out."""
        with kb.capture() as graph:
            self._work()
        self.graph = graph


def learn(task, iterations):
    """The loss before each iteration, and after the last."""
    descent = Descent(task)
    return [descent.step() for _ in range(iterations + 1)]
