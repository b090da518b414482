// What the page uses of three.js, and no more: the bundle is built into the binary and into every report.
export {
    BackSide, BoxGeometry, BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, EdgesGeometry, Float32BufferAttribute, GLSL3, Group,
    InstancedBufferAttribute, InstancedBufferGeometry, InstancedInterleavedBuffer, InterleavedBufferAttribute,
    LineBasicMaterial, LinearFilter, LineSegments, Mesh, MeshBasicMaterial, PerspectiveCamera, PlaneGeometry,
    Points, RawShaderMaterial, Scene, Vector3, Vector4, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
