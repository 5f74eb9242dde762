// What benchmarks/fast.py measures, as an engineer writes it by hand: raw pointers, sizes, wide loads where the data
// allow them, and the order of additions that suits the hardware.

constexpr int BLOCK = 256;
constexpr unsigned ALL = 0xffffffffu;

template <typename T> __device__ inline T warp_total(T value)  // in lane 0
{
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(ALL, value, distance);
    return value;
}

template <typename T> __device__ inline T block_total(T value)  // in thread 0
{
    __shared__ T of_warps[BLOCK / 32];
    value = warp_total(value);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) value = warp_total(threadIdx.x < BLOCK / 32 ? of_warps[threadIdx.x] : T(0));
    return value;
}

// The sum up to this thread; `total` is that of all. Two barriers.
template <int THREADS> __device__ inline int block_scan(int value, int &total)
{
    __shared__ int of_warps[THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_up_sync(ALL, value, distance);
        if (lane >= distance) value += other;
    }
    __syncthreads();  // all have read what the call before has left
    if (lane == 31) of_warps[warp] = value;
    __syncthreads();
    total = 0;
    int before = 0;
#pragma unroll
    for (int i = 0; i < THREADS / 32; ++i) {
        if (i == warp) before = total;
        total += of_warps[i];
    }
    return before + value;
}

extern "C" __global__ void histogram(const unsigned *values, int words, int *counts)  // four elements a word
{
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < words; i += gridDim.x * BLOCK) {
        unsigned four = values[i];
        atomicAdd(&own[four & 255], 1);
        atomicAdd(&own[four >> 8 & 255], 1);
        atomicAdd(&own[four >> 16 & 255], 1);
        atomicAdd(&own[four >> 24], 1);
    }
    __syncthreads();
    if (own[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void matrix_product(const float *a, const float *b, float *product, int rows, int inner,
                                          int columns)
{
    constexpr int TILE = 16;
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float total = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        of_a[y][x] = row < rows && start + x < inner ? a[row * inner + start + x] : 0.0f;
        of_b[y][x] = start + y < inner && column < columns ? b[(start + y) * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) total = fmaf(of_a[y][k], of_b[k][x], total);
        __syncthreads();
    }
    if (row < rows && column < columns) product[row * columns + column] = total;
}

extern "C" __global__ void reduction(const float4 *values, int quads, float *parts)
{
    float own = 0.0f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < quads; i += gridDim.x * BLOCK) {
        float4 four = values[i];
        own += (four.x + four.y) + (four.z + four.w);
    }
    own = block_total(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

__device__ inline int chunk(int quads)  // of each block, in groups of four elements
{
    int tiles = (quads + BLOCK - 1) / BLOCK;
    return (tiles + gridDim.x - 1) / gridDim.x * BLOCK;
}

extern "C" __global__ void scan_sums(const int4 *values, int quads, int *sums)
{
    int first = blockIdx.x * chunk(quads), last = min(first + chunk(quads), quads);
    int own = 0;
    for (int i = first + threadIdx.x; i < last; i += BLOCK) {
        int4 four = values[i];
        own += four.x + four.y + four.z + four.w;
    }
    own = block_total(own);
    if (threadIdx.x == 0) sums[blockIdx.x] = own;
}

extern "C" __global__ void scan_blocks(int *sums, int count)
{
    int i = threadIdx.x, total;
    int own = i < count ? sums[i] : 0;
    int upto = block_scan<1024>(own, total);
    if (i < count) sums[i] = upto - own;
}

extern "C" __global__ void scan_elements(const int4 *values, int quads, const int *sums, int4 *scanned)
{
    int first = blockIdx.x * chunk(quads), last = min(first + chunk(quads), quads);
    int before = sums[blockIdx.x];
    for (int start = first; start < last; start += BLOCK) {
        int i = start + threadIdx.x, total;
        int4 four = i < last ? values[i] : make_int4(0, 0, 0, 0);
        four.y += four.x;
        four.z += four.y;
        four.w += four.z;
        int own = before + block_scan<BLOCK>(four.w, total) - four.w;
        if (i < last) scanned[i] = make_int4(own + four.x, own + four.y, own + four.z, own + four.w);
        before += total;
    }
}

extern "C" __global__ void sparse_product(const int *starts, const int *columns, const float *values, const float *x,
                                          float *y, int rows)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float own = 0.0f;
    for (int k = starts[row] + lane, last = starts[row + 1]; k < last; k += 32) own = fmaf(values[k], x[columns[k]], own);
    own = warp_total(own);
    if (lane == 0) y[row] = own;
}

extern "C" __global__ void transpose(const float *a, float *turned, int rows, int columns)
{
    constexpr int SIDE = 32, HIGH = 8;
    __shared__ float tile[SIDE][SIDE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
#pragma unroll
    for (int k = 0; k < SIDE; k += HIGH) {
        if (row + k < rows && column < columns) tile[y + k][x] = a[(row + k) * columns + column];
    }
    __syncthreads();
    row = blockIdx.x * SIDE + y;
    column = blockIdx.y * SIDE + x;
#pragma unroll
    for (int k = 0; k < SIDE; k += HIGH) {
        if (row + k < columns && column < rows) turned[(row + k) * rows + column] = tile[x][y + k];
    }
}
