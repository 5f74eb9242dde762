#pragma once
struct Cell { int count; double weight; };
